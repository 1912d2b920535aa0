import type { ExpressionBuilder } from 'kysely'
import type { Db, Row, Tables } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import type { ItemColumn } from '../items/kind.ts'
import type { SubscriptionTarget } from './model.ts'

const NONE = { issue_id: null, merge_request_id: null, label_id: null, project_id: null }
const COLUMNS = Object.keys(NONE) as (keyof typeof NONE)[]

type Columns = { [column in keyof typeof NONE]: number | null }

export const columnsOf = (target: SubscriptionTarget): Columns => ({ ...NONE, ...target })

/** Matches exactly these columns; all others must be null. */
export const isOf =
  (columns: Columns, given: (column: keyof Columns) => boolean = (column) => columns[column] !== null) =>
  (eb: ExpressionBuilder<Tables, 'subscriptions'>) =>
    eb.and(COLUMNS.map((column) => (given(column) ? eb(column, '=', columns[column]) : eb(column, 'is', null))))

const subscriptionRow = hotQuery((db, p: Columns & { user: number }, given) =>
  db.selectFrom('subscriptions').select('subscribed').where('user_id', '=', p.user).where(isOf(p, given)),
)

/** The explicit subscription of the user; null if there is none. */
export const subscriptionOf = async (db: Db, user: number, target: SubscriptionTarget): Promise<boolean | null> =>
  subscriptionLookup(user, target).ask(db)

export const subscriptionLookup = (user: number, target: SubscriptionTarget): Lookup<boolean | null> =>
  lookup(subscriptionRow, { user, ...columnsOf(target) }, ([row]) => row?.subscribed ?? null)

export type Subscriber = Pick<Row<'subscriptions'>, 'user_id' | 'project_id' | 'subscribed'>

/** Users with an explicit subscription or refusal, by record id. One query. */
export async function subscribersOf(
  db: Db,
  kind: ItemColumn | 'label_id',
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

/** Of these labels, those the user subscribed to in a project or, with null, in the whole group. */
export const subscribedLookup = (user: number, labels: string, project: number | null): Lookup<ReadonlySet<number>> =>
  lookup(subscribedLabels, { user, labels, project }, (rows) => new Set(rows.map(({ label_id }) => label_id!)))

const subscribedLabels = hotQuery((db, p: { user: number; labels: string; project: number | null }, given) =>
  db
    .selectFrom('subscriptions')
    .select('label_id')
    .where('user_id', '=', p.user)
    .where('subscribed', '=', true)
    .where('project_id', given('project') ? '=' : 'is', given('project') ? p.project : null)
    .where(inIdList(db, 'label_id', p.labels)),
)
