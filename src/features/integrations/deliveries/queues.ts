/** The reads and writes of the deliverer. */
import { DAY, MINUTE, after, timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { NO_LEASE, hasLease, isLeaseOver, newLease } from '../../../jobs/leases.ts'
import { hasHolderEnded } from '../../../jobs/processes.ts'
import type { NewRow, RowChange, TransactionDb } from '../../../store/database.ts'
import { idList, inIdList, locksRows } from '../../../store/dialect.ts'
import { hotInsert, hotQuery } from '../../../store/hot.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { alertStatusOf } from '../hooks/disabling.ts'
import type { Delivery, DeliveryQueue } from './model.ts'

/** An older delivery is given up: its event is no longer news. */
export const EXPIRES_AFTER = DAY

/** How soon to check again whether a hook is still disabled: the instance setting may have changed. */
const LOOK_AGAIN_MS = 10 * MINUTE

/** Longer than one process serves a queue at a time. */
export const LEASE_MS = 90_000

/** How long a queue stays marked as troubled after its last delivery. */
const TROUBLE_KEPT = DAY

/** Owners whose receivers already take the share of slots of one owner. */
export interface Busy {
  readonly calm: readonly number[]
  readonly troubled: readonly number[]
}

/** How many queues may be claimed. */
export interface Free {
  readonly all: number
  readonly troubled: number
  readonly busy: Busy
}

type Served = Pick<DeliveryQueue, 'owner_id' | 'troubled'>

/** The maximum number of slots that the receivers of one owner take. */
const shareOf = (troubled: boolean) => (troubled ? 10 : 20)

const countServed = (served: readonly Served[], { owner_id, troubled }: Served) =>
  served.filter((one) => one.owner_id === owner_id && one.troubled === troubled).length

export function busyOwners(served: readonly Served[]): Busy {
  const full = (troubled: boolean) => {
    const owners = new Set(served.flatMap((one) => (one.troubled === troubled ? (one.owner_id ?? []) : [])))
    return [...owners].filter((owner_id) => countServed(served, { owner_id, troubled }) >= shareOf(troubled))
  }
  return { calm: full(false), troubled: full(true) }
}

const due = ({ db, clock }: App, troubled: boolean, without: readonly number[]) => {
  const now = timestamp(clock)
  return db
    .selectFrom('delivery_lanes')
    .where('troubled', '=', troubled)
    .where('due_at', '<=', now)
    .$if(without.length > 0, (q) =>
      q.where((eb) => eb.or([eb('owner_id', 'is', null), eb('owner_id', 'not in', without)])),
    )
    .where((eb) => eb.or([isLeaseOver(now), hasHolderEnded('lease_holder')]))
    .orderBy('due_at')
    .orderBy('id')
}

export async function isAnyQueueDue(app: App, { troubled, busy }: Omit<Free, 'all'>): Promise<boolean> {
  if (await due(app, false, busy.calm).select('id').limit(1).executeTakeFirst()) return true
  if (troubled <= 0) return false
  return (await due(app, true, busy.troubled).select('id').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Claims the queues that have been due the longest, and of each owner no more than the share. `running` are the queues
 * already served.
 */
export async function claimQueues(
  app: App,
  most: Omit<Free, 'busy'>,
  running: readonly Served[],
): Promise<DeliveryQueue[]> {
  const chosen: (Served & { id: number })[] = []
  const choose = async (troubled: boolean, limit: number) => {
    const end = chosen.length + limit
    for (let isCut = true; isCut && chosen.length < end;) {
      isCut = false
      const busy = busyOwners([...running, ...chosen])
      const taken = chosen.map(({ id }) => id)
      const found = await due(app, troubled, troubled ? busy.troubled : busy.calm)
        .select(['id', 'owner_id', 'troubled'])
        .$if(taken.length > 0, (q) => q.where('id', 'not in', taken))
        .limit(end - chosen.length)
        .$if(locksRows(app.db), (q) => q.forUpdate().skipLocked())
        .execute()
      // The next round excludes owners who have reached their share.
      for (const queue of found)
        if (queue.owner_id === null || countServed([...running, ...chosen], queue) < shareOf(troubled))
          chosen.push(queue)
        else isCut = true
    }
  }
  await choose(false, most.all)
  if (most.troubled > 0) await choose(true, Math.min(most.troubled, most.all - chosen.length))
  const ids = chosen.map(({ id }) => id)
  if (ids.length === 0) return []
  return app.db
    .updateTable('delivery_lanes')
    .set(newLease(app, LEASE_MS))
    .where('id', 'in', ids)
    .returningAll()
    .execute()
}

/** The pending deliveries of a queue that are due now, in the order of events. */
export async function nextInQueue({ db, clock }: App, queue: DeliveryQueue, most: number): Promise<Delivery[]> {
  const [column, id] = receiverOf(queue)
  return db
    .selectFrom('hook_deliveries')
    .selectAll()
    .where(column, '=', id)
    .where('state', '=', 'waiting')
    .where('due_at', '<=', timestamp(clock))
    .orderBy('id')
    .limit(most)
    .execute()
}

const receiverOf = ({ hook_id, service_id }: Pick<DeliveryQueue, 'hook_id' | 'service_id'>) =>
  hook_id !== null ? (['hook_id', hook_id] as const) : (['service_id', service_id!] as const)

export interface DeliveryChange {
  readonly state?: Delivery['state']
  readonly attempts?: number
  readonly due_at?: string
}

const changeDeliveries = hotQuery((db, p: DeliveryChange & { ids: string }, given) =>
  db
    .updateTable('hook_deliveries')
    .set({
      ...(given('state') && { state: p.state! }),
      ...(given('attempts') && { attempts: p.attempts! }),
      ...(given('due_at') && { due_at: p.due_at! }),
    })
    .where(inIdList(db, 'id', p.ids)),
)

const insertAttempts = hotInsert('hook_attempts', [
  'hook_id',
  'message_id',
  'trigger',
  'url',
  'request_headers',
  'request_data',
  'response_status',
  'response_headers',
  'response_body',
  'execution_duration',
  'error',
  'created_at',
])

/** The result of a delivery attempt. */
export interface DeliveryResult {
  readonly delivery: Delivery
  readonly change: DeliveryChange
  readonly attempt: NewRow<'hook_attempts'> | null
  /** The new state of the hook: how often in a row it has failed. */
  readonly hook: RowChange<'hooks'> | null
}

export async function writeResults({ db }: TransactionApp, notes: readonly DeliveryResult[]): Promise<void> {
  // Most results written at once are equal: the delivery succeeded.
  const alike = Map.groupBy(notes, ({ change }) => JSON.stringify(change))
  for (const some of alike.values())
    await changeDeliveries(db, {
      ...some[0]!.change,
      ids: idList(
        db,
        some.map(({ delivery }) => delivery.id),
      ),
    })
  for (const { delivery, hook } of notes)
    if (hook && delivery.hook_id !== null)
      await db.updateTable('hooks').set(hook).where('id', '=', delivery.hook_id).execute()
  await writeAttempts(
    db,
    notes.flatMap(({ attempt }) => attempt ?? []),
  )
}

/** A hook may be deleted during the request. */
export async function writeAttempts(db: TransactionDb, attempts: readonly NewRow<'hook_attempts'>[]): Promise<void> {
  if (attempts.length === 0) return
  const there = await lockedHooks(db, { ids: idList(db, [...new Set(attempts.map(({ hook_id }) => hook_id))]) })
  const ids = new Set(there.map(({ id }) => id))
  const rows = attempts.filter(({ hook_id }) => ids.has(hook_id))
  await insertAttempts(db, rows)
}

const lockedHooks = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('hooks')
    .select('id')
    .where(inIdList(db, 'id', p.ids))
    .$if(locksRows(db), (q) => q.forKeyShare()),
)

/** Until when the receiver of a queue is disabled. Gives up deliveries that have waited too long meanwhile. */
export async function restOf(app: App, { hook_id }: DeliveryQueue): Promise<string | null> {
  if (hook_id === null) return null
  const { hooks_auto_disabled: isOn } = await currentSettings(app)
  const hook = isOn && (await app.db.selectFrom('hooks').selectAll().where('id', '=', hook_id).executeTakeFirst())
  const status = hook ? alertStatusOf(hook, { clock: app.clock, isOn }) : 'executable'
  if (!hook || status === 'executable') return null
  await app.db
    .updateTable('hook_deliveries')
    .set({ state: 'given_up' })
    .where('hook_id', '=', hook_id)
    .where('state', '=', 'waiting')
    .where('created_at', '<=', after(app.clock, -EXPIRES_AFTER))
    .execute()
  const look = after(app.clock, LOOK_AGAIN_MS)
  return status === 'disabled' || hook.disabled_until! > look ? look : hook.disabled_until
}

/**
 * Releases the lease of a queue until the next delivery is due, and deletes an empty queue. The queue of a troubled
 * receiver stays for a day, because its next event would otherwise be served among the healthy ones. Then it is found
 * idle and deleted.
 */
export async function releaseQueue(
  given: App,
  queue: DeliveryQueue,
  {
    troubled,
    isIdle,
    until = null,
  }: { readonly troubled: boolean; readonly isIdle: boolean; readonly until?: string | null },
): Promise<void> {
  await transact(given, async (app) => {
    // Lock the queue before reading its deliveries. Code that adds a delivery takes the same lock, so none is missed.
    const locked = await app.db
      .selectFrom('delivery_lanes')
      .select('id')
      .where('id', '=', queue.id)
      .where(hasLease(queue))
      .$if(locksRows(app.db), (q) => q.forUpdate())
      .executeTakeFirst()
    if (!locked) return
    const [column, id] = receiverOf(queue)
    const { due_at } = await app.db
      .selectFrom('hook_deliveries')
      .select((eb) => eb.fn.min('due_at').as('due_at'))
      .where(column, '=', id)
      .where('state', '=', 'waiting')
      .executeTakeFirstOrThrow()
    if (due_at === null && (!troubled || isIdle))
      await app.db.deleteFrom('delivery_lanes').where('id', '=', queue.id).execute()
    else {
      const next = due_at ?? after(app.clock, TROUBLE_KEPT)
      await app.db
        .updateTable('delivery_lanes')
        .set({ due_at: until !== null && until > next ? until : next, troubled, ...NO_LEASE })
        .where('id', '=', queue.id)
        .execute()
    }
  })
}
