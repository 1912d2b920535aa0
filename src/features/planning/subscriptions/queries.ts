import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { SubscriptionTarget } from './model.ts'

export const columnsOf = (target: SubscriptionTarget) =>
  'issue_id' in target
    ? { issue_id: target.issue_id, label_id: null, project_id: null }
    : { issue_id: null, label_id: target.label_id, project_id: target.project_id ?? null }

interface Said {
  user: number
  issue_id: number | null
  label_id: number | null
  project_id: number | null
}

const saidOf = hotQuery((db, p: Said, given) =>
  db
    .selectFrom('subscriptions')
    .select('subscribed')
    .where('user_id', '=', p.user)
    .where((eb) => (given('issue_id') ? eb('issue_id', '=', p.issue_id) : eb('issue_id', 'is', null)))
    .where((eb) => (given('label_id') ? eb('label_id', '=', p.label_id) : eb('label_id', 'is', null)))
    .where((eb) => (given('project_id') ? eb('project_id', '=', p.project_id) : eb('project_id', 'is', null))),
)

/** What the user said of it; null where they said nothing. */
export async function subscriptionOf(db: Db, user: number, target: SubscriptionTarget): Promise<boolean | null> {
  const [said] = await saidOf(db, { user, ...columnsOf(target) })
  return said?.subscribed ?? null
}

export type Subscriber = Pick<Row<'subscriptions'>, 'user_id' | 'project_id' | 'subscribed'>

/** Whoever said something of these issues or labels, by id; one query. */
export async function subscribersOf(
  db: Db,
  kind: 'issue_id' | 'label_id',
  ids: readonly number[],
): Promise<Map<number, Subscriber[]>> {
  if (ids.length === 0) return new Map()
  const rows = await db
    .selectFrom('subscriptions')
    .select([`${kind} as target`, 'user_id', 'project_id', 'subscribed'])
    .where(inIdList(db, kind, idList(db, ids)))
    .orderBy('id')
    .execute()
  return Map.groupBy(rows, ({ target }) => target!)
}

/** Of these labels, those that the user subscribed to in a project, or with null in the whole group. */
export async function subscribedLabels(
  db: Db,
  user: number,
  labels: readonly number[],
  project: number | null,
): Promise<Set<number>> {
  if (labels.length === 0) return new Set()
  const rows = await db
    .selectFrom('subscriptions')
    .select('label_id')
    .where('user_id', '=', user)
    .where('subscribed', '=', true)
    .where('project_id', project === null ? 'is' : '=', project)
    .where(inIdList(db, 'label_id', idList(db, labels)))
    .execute()
  return new Set(rows.map(({ label_id }) => label_id!))
}
