import { sql } from 'kysely'
import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Owner } from '../../../lib/levels.ts'
import type { Db, NewRow, Row } from '../../../store/database.ts'
import { hooksAt } from '../hooks/listening.ts'
import type { AnySwitch, Hook } from '../hooks/model.ts'
import { interestedServices } from '../services/send.ts'
import { Chains } from './chains.ts'

/** The columns that decide which receivers subscribe to a message. */
export const SUBSCRIBED_BY = [
  'event_messages.id',
  'event_messages.kind',
  'event_messages.switch',
  'event_messages.project_id',
  'event_messages.group_id',
  'event_messages.to_projects',
  'event_messages.to_groups',
  'event_messages.to_system',
] as const

type Received = Pick<
  Row<'event_messages'>,
  'id' | 'kind' | 'switch' | 'project_id' | 'group_id' | 'to_projects' | 'to_groups' | 'to_system'
>

/** Creates a delivery of each message for each receiver, in the transaction that publishes the events. */
export async function distribute(app: App, events: readonly { readonly id: number }[]): Promise<void> {
  const messages = await app.db
    .selectFrom('event_messages')
    .innerJoin('events', 'events.id', 'event_messages.event_id')
    .select(SUBSCRIBED_BY)
    .select(['event_id', 'root_id'])
    .where(
      'event_id',
      'in',
      events.map(({ id }) => id),
    )
    .orderBy('event_id')
    .orderBy('event_messages.id')
    .execute()
  const chains = new Chains(app)
  const listening = new Map<string, Hook[]>()
  const services = new Map<string, readonly { readonly id: number }[]>()
  const found: NewDelivery[] = []
  for (const message of messages) {
    const key = `${message.project_id} ${message.group_id}`
    const hooks = listening.get(key) ?? (await hooksAt(app.db, message satisfies ScopeColumns))
    listening.set(key, hooks)
    for (const hook of hooks)
      if (hears(hook, message) && !(await chains.isAtItsEnd(hook.id, message)))
        found.push({ message_id: message.id, hook_id: hook.id })
    const { project_id, kind } = message
    if (project_id === null || !message.to_projects) continue
    const receivers = services.get(`${project_id} ${kind}`) ?? (await interestedServices(app, project_id, kind))
    services.set(`${project_id} ${kind}`, receivers)
    for (const service of receivers) found.push({ message_id: message.id, service_id: service.id })
  }
  await addDeliveries(app, found)
}

export function hears(hook: Hook, message: Omit<Received, 'id' | 'kind'>): boolean {
  const isMeant =
    hook.project_id !== null ? message.to_projects : hook.group_id !== null ? message.to_groups : message.to_system
  return isMeant && (message.switch === null || hook[message.switch as AnySwitch])
}

const AT_ONCE = 500

type NewDelivery = { readonly message_id: number } & ({ readonly hook_id: number } | { readonly service_id: number })

/** Each receiver gets its deliveries in the given order. */
export async function addDeliveries(app: App, deliveries: readonly NewDelivery[]): Promise<void> {
  if (deliveries.length === 0) return
  const now = timestamp(app.clock)
  const rows: NewRow<'hook_deliveries'>[] = deliveries.map((one) => ({
    hook_id: null,
    service_id: null,
    ...one,
    state: 'waiting',
    attempts: 0,
    due_at: now,
    created_at: now,
  }))
  for (let n = 0; n < rows.length; n += AT_ONCE)
    await app.db
      .insertInto('hook_deliveries')
      .values(rows.slice(n, n + AT_ONCE))
      .execute()
  await openQueues(app, 'hook_id', [...new Set(rows.flatMap(({ hook_id }) => hook_id ?? []))], now)
  await openQueues(app, 'service_id', [...new Set(rows.flatMap(({ service_id }) => service_id ?? []))], now)
  app.onCommit(() => app.deliveries.wake())
}

export type Receiver = 'hook_id' | 'service_id'

/** Inserts in the order of ids, so that two transactions never deadlock. */
export async function openQueues({ db }: App, column: Receiver, ids: readonly number[], due_at: string): Promise<void> {
  const sorted = ids.toSorted((one, other) => one - other)
  for (let n = 0; n < sorted.length; n += AT_ONCE) {
    const some = sorted.slice(n, n + AT_ONCE)
    const owners = await ownersOf(db, column, some)
    await db
      .insertInto('delivery_lanes')
      .values(
        some.map((id) => ({
          hook_id: null,
          service_id: null,
          [column]: id,
          due_at,
          lease_until: null,
          troubled: false,
          owner_id: owners.get(id) ?? null,
        })),
      )
      .onConflict((c) =>
        c.column(column).doUpdateSet((eb) => ({
          due_at: eb
            .case()
            .when('excluded.due_at', '<', eb.ref('delivery_lanes.due_at'))
            .then(eb.ref('excluded.due_at'))
            .else(eb.ref('delivery_lanes.due_at'))
            .end(),
        })),
      )
      .execute()
  }
}

/**
 * The owner of each receiver: the owner of the namespace, else the creator of the project. For a group, the first
 * owner.
 */
async function ownersOf(db: Db, column: Receiver, ids: readonly number[]): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; owner_id: number | null }>`
    select r.id, coalesce(n.owner_id, p.creator_id, (
      select m.user_id from members m join namespace_ancestors a on a.ancestor_id = m.group_id
      where a.namespace_id = r.group_id and m.access_level = ${sql.lit(Owner)} order by m.id limit 1)) as owner_id
    from ${sql.table(column === 'hook_id' ? 'hooks' : 'services')} r
    left join projects p on p.id = r.project_id
    left join namespaces n on n.id = p.namespace_id
    where r.id in (${sql.join(ids)})`.execute(db)
  return new Map(rows.flatMap(({ id, owner_id }) => (owner_id === null ? [] : [[Number(id), Number(owner_id)]])))
}
