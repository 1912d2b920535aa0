/**
 * The outbox: events are written in the transaction of the change and delivered after it has committed. An event of a
 * rolled-back change is never delivered; a committed one is delivered at least once.
 */
import type { Generated } from 'kysely'
import { timestamp, type Clock } from '../clock.ts'
import type { Events, NewRow } from './database.ts'
import { hotQuery } from './hot.ts'
import type { InTransaction, Transactable } from './transact.ts'

declare module './database.ts' {
  interface Tables {
    events: {
      id: Generated<number>
      name: string
      payload: string
      /** The project or group of the event, if there is one. */
      project_id: number | null
      group_id: number | null
      /** The event has messages. */
      described: Generated<boolean>
      created_at: string
      dispatched_at: string | null
      /** The commit order of events, as far as it can be known; set when they are delivered. */
      position: Generated<number | null>
      /** The event whose hook caused this one, or the first of such a chain. */
      root_id: Generated<number | null>
    }
    /** One row. */
    event_positions: { last: number }
    /** The payload for webhooks and integrations, written with the event and in the state of that moment. */
    event_messages: {
      id: Generated<number>
      event_id: number
      /** `push`, `issue`, `project_create` … */
      kind: string
      /** The event switch that a hook must have enabled; null for messages to every hook of the instance. */
      switch: string | null
      project_id: number | null
      group_id: number | null
      to_projects: boolean
      to_groups: boolean
      to_system: boolean
      /** The branch, if one is concerned. */
      ref: string | null
      /** JSON. */
      body: string
      /** False if data from git is needed before it can be sent. */
      complete: boolean
    }
  }
}

export type EventMessage = Omit<NewRow<'event_messages'>, 'event_id' | 'body'> & { readonly body: object }

/** The messages for each of these events of one name; called in the transaction of the change. */
export type DescribeEvents = (
  // oxlint-disable-next-line no-explicit-any -- the store does not know the type of the app
  app: any,
  name: keyof Events,
  payloads: readonly object[],
) => Promise<readonly (readonly EventMessage[])[]>

export interface Emitter extends Transactable {
  readonly clock: Clock
  readonly jobs: { wake(): void }
  readonly describeEvents?: DescribeEvents
  /** The event whose hook delivery caused this request. */
  readonly chain?: number | undefined
}

type NewEvent = Pick<
  NewRow<'events'>,
  'name' | 'payload' | 'project_id' | 'group_id' | 'described' | 'created_at' | 'root_id'
>

const insertEvent = hotQuery((db, values: NewEvent) =>
  db
    .insertInto('events')
    .values({
      name: values.name,
      payload: values.payload,
      project_id: values.project_id,
      group_id: values.group_id,
      described: values.described!,
      created_at: values.created_at,
      root_id: values.root_id!,
      dispatched_at: null,
    })
    .returning('id'),
)

export async function emit<E extends keyof Events>(
  app: InTransaction<Emitter>,
  name: E,
  payload: Events[E],
): Promise<void> {
  await emitAll(app, name, [payload])
}

const AT_ONCE = 500

/** Several events of the same name, in order. */
export async function emitAll<E extends keyof Events>(
  app: InTransaction<Emitter>,
  name: E,
  payloads: readonly Events[E][],
): Promise<void> {
  if (payloads.length === 0) return
  const created_at = timestamp(app.clock)
  for (let n = 0; n < payloads.length; n += AT_ONCE) {
    const some = payloads.slice(n, n + AT_ONCE)
    const messages = (await app.describeEvents?.(app, name, some)) ?? []
    const ids = await insertEvents(
      app,
      some.map((payload, at) => ({
        name,
        payload: JSON.stringify(payload),
        ...eventScope(name, payload),
        described: (messages[at] ?? []).length > 0,
        created_at,
        root_id: app.chain ?? null,
      })),
    )
    for (const [at, id] of ids.entries()) await addMessages(app, id, messages[at] ?? [])
  }
  app.onCommit(() => app.jobs.wake())
}

/** One insert each, because a message may be long. */
export async function addMessages(
  { db }: Pick<Emitter, 'db'>,
  event_id: number,
  messages: readonly EventMessage[],
): Promise<number[]> {
  const ids: number[] = []
  for (const message of messages) {
    const { id } = await db
      .insertInto('event_messages')
      .values({ ...message, body: JSON.stringify(message.body), event_id })
      .returning('id')
      .executeTakeFirstOrThrow()
    ids.push(id)
  }
  return ids
}

/** The body is complete now, with the data from git. */
export async function completeMessage({ db }: Pick<Emitter, 'db'>, id: number, body: string): Promise<void> {
  await db.updateTable('event_messages').set({ body, complete: true }).where('id', '=', id).execute()
}

async function insertEvents({ db }: Emitter, events: readonly NewEvent[]): Promise<number[]> {
  const rows =
    events.length === 1
      ? await insertEvent(db, events[0]!)
      : await db
          .insertInto('events')
          .values(events.map((event) => ({ ...event, dispatched_at: null })))
          .returning('id')
          .execute()
  return rows.map(({ id }) => id).toSorted((one, other) => one - other)
}

interface Positioned {
  readonly id?: number
  readonly project_id?: number | null
  readonly group_id?: number | null
}

export function eventScope(
  name: keyof Events,
  payload: object,
): { project_id: number | null; group_id: number | null } {
  const { id, project_id, group_id } = payload as Positioned
  const [subject] = (name as string).split('.', 1)
  return {
    project_id: project_id ?? (subject === 'project' ? (id ?? null) : null),
    group_id: group_id ?? (subject === 'group' ? (id ?? null) : null),
  }
}

/** Deletes events that every subscriber handled before this moment; without a moment, all events. */
export async function forgetEvents({ db }: Pick<Emitter, 'db'>, dispatchedBefore?: string): Promise<void> {
  await db
    .deleteFrom('events')
    .$if(dispatchedBefore !== undefined, (query) => query.where('dispatched_at', '<', dispatchedBefore!))
    .execute()
}
