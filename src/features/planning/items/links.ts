/** Labels and users of items: rows of link tables. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { TransactionApp, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, nothing, type Lookup } from '../../../store/lookups.ts'
import type { RowState } from '../../../store/versions.ts'
import type { Label } from '../labels/model.ts'
import { byTitle } from '../labels/queries.ts'
import { ITEM_ROLES, perKind, type ItemKind, type ItemRole } from './kind.ts'

const labelQuery = perKind(({ column, labels }) =>
  hotQuery(
    (db, p: { ids: string }) => sql<Label & { item: number }>`
      select labels.*, ${sql.ref(`link.${column}`)} as item
      from ${sql.table(labels)} link join labels on labels.id = link.label_id
      where ${inIdList(db, `link.${column}`, p.ids)} order by ${byTitle(db)}, labels.id`,
  ),
)

/** By item id, sorted by title. */
export const labelLookup = (db: Db, kind: ItemKind, ids: readonly number[]): Lookup<Map<number, Label[]>> =>
  lookup(labelQuery(kind), ids.length === 0 ? null : { ids: idList(db, ids) }, (rows) => {
    const found = new Map<number, Label[]>()
    for (const { item, ...label } of rows) {
      const known = found.get(item)
      if (known) known.push(label)
      else found.set(item, [label])
    }
    return found
  })

export const labelsOfItems = async (db: Db, kind: ItemKind, ids: readonly number[]): Promise<Map<number, Label[]>> =>
  labelLookup(db, kind, ids).ask(db)

const userQueries = perKind(({ column, people }) => {
  const query = (table: string) =>
    hotQuery(
      (db, p: { ids: string }) => sql<{ item: number } & RowState>`
        select ${sql.ref(`link.${column}`)} as item, users.id, users.version
        from ${sql.table(table)} link join users on users.id = link.user_id
        where ${inIdList(db, `link.${column}`, p.ids)} order by users.id`,
    )
  return new Map(Object.entries(people).map(([role, table]) => [role, query(table)]))
})

/** The states of users by item id. */
export function userLookup(
  db: Db,
  kind: ItemKind,
  role: ItemRole,
  ids: readonly number[],
): Lookup<Map<number, RowState[]>> {
  const query = userQueries(kind).get(role)
  if (!query) return nothing(new Map<number, RowState[]>())
  return lookup(query, ids.length === 0 ? null : { ids: idList(db, ids) }, (rows) => {
    const found = new Map<number, RowState[]>()
    for (const { item, ...state } of rows) {
      const known = found.get(item)
      if (known) known.push(state)
      else found.set(item, [state])
    }
    return found
  })
}

/** User ids by item id. One query. */
export async function usersOfItems(
  db: Db,
  kind: ItemKind,
  role: ItemRole,
  ids: readonly number[],
): Promise<Map<number, number[]>> {
  const found = await userLookup(db, kind, role, ids).ask(db)
  return new Map(Array.from(found, ([item, users]) => [item, users.map(({ id }) => id)]))
}

type Link = { readonly [column: string]: number | string }

async function insertLinks({ db }: TransactionApp, table: string, links: readonly Link[]): Promise<void> {
  const [first] = links
  if (!first) return
  const columns = Object.keys(first)
  const rows = links.map((link) => sql`(${sql.join(columns.map((column) => link[column]))})`)
  await sql`insert into ${sql.table(table)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(rows)}`.execute(db)
}

async function deleteLinks(
  { db }: TransactionApp,
  table: string,
  item: readonly [column: string, id: number],
  linked: readonly [column: string, rows: readonly { readonly id: number }[]],
): Promise<void> {
  const ids = linked[1].map(({ id }) => id)
  if (ids.length === 0) return
  await sql`delete from ${sql.table(table)}
    where ${sql.ref(item[0])} = ${item[1]} and ${sql.ref(linked[0])} in (${sql.join(ids)})`.execute(db)
}

/** Those of `some` that are not in `known`. */
export const missingIn = <T extends { readonly id: number }>(known: readonly T[], some: readonly T[]): T[] =>
  some.filter(({ id }) => !known.some((one) => one.id === id))

type People = { readonly [role in ItemRole]?: readonly User[] }

/** The labels and users of an item. */
export interface Linked extends People {
  readonly labels: readonly Label[]
  readonly assignees: readonly User[]
}

/** Adds and removes labels and users, so that the links are those of `is`. */
export async function replaceLinks(
  app: TransactionApp,
  kind: ItemKind,
  id: number,
  was: Linked,
  is: Linked,
): Promise<void> {
  const { column, labels } = kind
  const tables: { readonly [role in ItemRole]?: string } = kind.people
  for (const role of ITEM_ROLES) {
    const table = tables[role]
    if (table === undefined) continue
    const [before = [], after = []] = [was[role], is[role]]
    const link = { [column]: id, ...(role === 'reviewers' && { created_at: timestamp(app.clock) }) }
    await deleteLinks(app, table, [column, id], ['user_id', missingIn(after, before)])
    await insertLinks(
      app,
      table,
      missingIn(before, after).map((user) => ({ ...link, user_id: user.id })),
    )
  }
  await deleteLinks(app, labels, [column, id], ['label_id', missingIn(is.labels, was.labels)])
  await insertLinks(
    app,
    labels,
    missingIn(was.labels, is.labels).map((label) => ({ [column]: id, label_id: label.id })),
  )
}

/** The links of a new item. */
export const addLinks = (app: TransactionApp, kind: ItemKind, id: number, links: Linked): Promise<void> =>
  replaceLinks(app, kind, id, { labels: [], assignees: [] }, links)
