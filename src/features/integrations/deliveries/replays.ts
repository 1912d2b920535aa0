/** Replays past events to a webhook, in their order. */
import { timestamp } from '../../../clock.ts'
import { job, type App, type TransactionApp } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import type { Events } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { addMessages, type EventMessage } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { eventsAt, hooksAt } from '../hooks/listening.ts'
import { SWITCHES, kindOf, type Hook } from '../hooks/model.ts'
import { messagesOf } from '../messages/describe.ts'
import { SYSTEM, type Subscription } from '../messages/message.ts'
import { sources } from '../messages/sources.ts'
import { SUBSCRIBED_BY, addDeliveries, hears } from './distribute.ts'

export const MOST_REPLAYED = 10_000
/** Events per transaction: other writers wait for it. */
const AT_ONCE = 100

export interface ReplayRequest {
  readonly since?: string | null
  readonly until?: string | null
  readonly event_ids?: readonly number[] | null
}

export interface Replayed {
  /** The number of events to replay. */
  readonly events: number
  /** Of these, how many go out with the stored message of the time. */
  readonly as_told: number
  /** Of these, how many get a new message that shows the current state: no receiver wanted one at the time. */
  readonly made_anew: number
  /** More events match than one replay may send. */
  readonly more: boolean
  /** The time of the last event, where the next replay continues. */
  readonly last_event_at: string | null
}

const subscriptionsOf = (hook: Hook): ReadonlySet<Subscription> => {
  const kind = kindOf(hook)
  const on: Subscription[] = SWITCHES[kind].filter((name) => hook[name])
  return new Set(kind === 'instance' ? [...on, SYSTEM] : on)
}

export async function startReplay(app: App, hook: Hook, input: ReplayRequest): Promise<Replayed> {
  const subscriptions = subscriptionsOf(hook)
  const telling = sources
    .filter(({ switches }) => switches.some((name) => subscriptions.has(name)))
    .map(({ event }) => event)
  const found = telling.length === 0 ? [] : await requestedEvents(app, hook, [...new Set<string>(telling)], input)
  const events = found.slice(0, MOST_REPLAYED)
  const sent = new Set<number>()
  for (let n = 0; n < events.length; n += AT_ONCE) {
    const ids = events.slice(n, n + AT_ONCE).map(({ id }) => id)
    for (const { event_id } of await messagesFor(app, hook, ids)) sent.add(event_id)
  }
  if (events.length > 0)
    await transact(app, async (app) => {
      const row = {
        hook_id: hook.id,
        event_ids: JSON.stringify(events.map(({ id }) => id)),
        created_at: timestamp(app.clock),
      }
      const { id } = await app.db.insertInto('hook_replays').values(row).returning('id').executeTakeFirstOrThrow()
      await enqueue(app, replayEvents, { id })
    })
  return {
    events: events.length,
    as_told: sent.size,
    made_anew: events.length - sent.size,
    more: found.length > MOST_REPLAYED,
    last_event_at: events.at(-1)?.created_at ?? null,
  }
}

const requestedEvents = (
  { db }: App,
  hook: Hook,
  names: readonly string[],
  { since, until, event_ids }: ReplayRequest,
) =>
  eventsAt(db, hook)
    .select(['id', 'created_at'])
    .where('name', 'in', names)
    .$if(!!since, (q) => q.where('created_at', '>=', since!))
    .$if(!!until, (q) => q.where('created_at', '<=', until!))
    .$if(!!event_ids, (q) => q.where('id', 'in', event_ids!.length > 0 ? [...event_ids!] : [0]))
    .orderBy('position')
    .limit(MOST_REPLAYED + 1)
    .execute()

async function messagesFor({ db }: App, hook: Hook, events: readonly number[]) {
  const found = await db
    .selectFrom('event_messages')
    .select(SUBSCRIBED_BY)
    .select(['event_id', 'kind'])
    .where('event_id', 'in', events)
    .orderBy('id')
    .execute()
  return found.filter((message) => hears(hook, message))
}

/** Works in batches. Each batch and the list of remaining events are one transaction, so no event goes out twice. */
export const replayEvents = job('hooks.replay', async (app, { id }: { id: number }) => {
  while (await transact(app, (app) => replaySome(app, id)));
})

async function replaySome(app: TransactionApp, id: number): Promise<boolean> {
  await lockName(app.db, `replay ${id}`)
  const replay = await app.db.selectFrom('hook_replays').selectAll().where('id', '=', id).executeTakeFirst()
  const hook =
    replay && (await app.db.selectFrom('hooks').selectAll().where('id', '=', replay.hook_id).executeTakeFirst())
  if (!replay || !hook) return false
  const ids = JSON.parse(replay.event_ids) as number[]
  await replayNow(app, hook, ids.slice(0, AT_ONCE))
  const left = ids.slice(AT_ONCE)
  if (left.length === 0) await app.db.deleteFrom('hook_replays').where('id', '=', id).execute()
  else
    await app.db
      .updateTable('hook_replays')
      .set({ event_ids: JSON.stringify(left) })
      .where('id', '=', id)
      .execute()
  return left.length > 0
}

async function replayNow(app: App, hook: Hook, ids: readonly number[]): Promise<void> {
  const events = await app.db.selectFrom('events').selectAll().where('id', 'in', ids).orderBy('position').execute()
  const known = Map.groupBy(await messagesFor(app, hook, ids), ({ event_id }) => event_id)
  const subscriptions = subscriptionsOf(hook)
  const deliveries: { message_id: number; hook_id: number }[] = []
  for (const { id, name, payload } of events) {
    const sent = known.get(id)?.map((message) => message.id)
    const messages = sent ?? (await recreated(app, hook, subscriptions, { id, name, payload }))
    for (const message_id of messages) deliveries.push({ message_id, hook_id: hook.id })
  }
  await addDeliveries(app, deliveries)
}

const addressed = (message: EventMessage) => ({
  ...message,
  switch: message.switch ?? null,
  project_id: message.project_id ?? null,
  group_id: message.group_id ?? null,
})

/** No message of the event exists. The new one shows the current state, and is stored for the next replay. */
async function recreated(
  app: App,
  hook: Hook,
  subscriptions: ReadonlySet<Subscription>,
  event: { readonly id: number; readonly name: string; readonly payload: string },
): Promise<number[]> {
  const made = await messagesOf(app, event.name as keyof Events, JSON.parse(event.payload) as object, subscriptions)
  const mine = made.map(addressed).filter((message) => hears(hook, message))
  const isInScope = await Promise.all(
    mine.map(async (message) => (await hooksAt(app.db, message)).some(({ id }) => id === hook.id)),
  )
  return addMessages(
    app,
    event.id,
    mine.filter((_, n) => isInScope[n]),
  )
}
