/** Participants of items, who are subscribed unless they refused. */
import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App, User } from '../../../context.ts'
import type { MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { mapped, nothing, type Lookup } from '../../../store/lookups.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { subscriptionLookup } from '../subscriptions/queries.ts'
import { columnsOfItem, perKind, type ItemKind, type ItemRow } from './kind.ts'

type Item = Pick<ItemRow, 'id' | 'author_id' | 'project_id'>

/** Whether the user is a member of the group or project that `g` mentions. */
const isMemberOfMentioned = (user: RawBuilder<unknown>) => sql<boolean>`(
  (g.group_id is null and exists (select 1 from project_authorizations a
    where a.project_id = g.source_project_id and a.user_id = ${user} and a.access_level >= ${sql.lit(Guest)}))
  or exists (select 1 from members m join namespace_ancestors up on up.ancestor_id = m.group_id
    where up.namespace_id = g.group_id and m.user_id = ${user}))`

/**
 * Ids of the author, linked users, commenters, users who reacted, and mentioned users. Internal notes do not count. Of
 * a mentioned group only members of the project count: its other members may be private.
 */
function participantsOf({ column, people }: ItemKind, { id, author_id, project_id }: Item): RawBuilder<number> {
  const [by, source] = [sql.ref(column), sql.ref(`source_${column}`)]
  const linked = Object.values(people).map((table) => sql`select user_id from ${sql.table(table)} where ${by} = ${id}`)
  return sql`${sql.join(linked, sql` union `)}
    union select user_id from award_emoji where ${by} = ${id}
    union select author_id from notes where ${by} = ${id} and not system and not internal and author_id is not null
    union select t.user_id from text_mentions t left join notes n on n.id = t.source_note_id
      where t.${source} = ${id} and (n.id is null or not n.internal)
    union select p.user_id from project_authorizations p
      where p.project_id = ${project_id} and p.access_level >= ${sql.lit(Guest)}
      and exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
        where g.${source} = ${id} and (n.id is null or not n.internal) and ${isMemberOfMentioned(sql.ref('p.user_id'))})
    union select ${author_id}`
}

/** For mail, in no order. */
export async function participantIds(db: Db, kind: ItemKind, item: Item): Promise<number[]> {
  const { id, author_id, project_id } = item
  return (await participating(kind)(db, { id, author_id, project_id })).flatMap(({ user_id }) => user_id ?? [])
}

const participating = perKind((kind) =>
  hotQuery(
    (_db, item: Item) => sql<{ user_id: number | null }>`select p.user_id from (${participantsOf(kind, item)}) p`,
  ),
)

export function listParticipants(db: Db, kind: ItemKind, item: Item, page: PageRequest): Promise<Page<User>> {
  const people = db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`users.id in (${participantsOf(kind, item)})`)
    .orderBy('users.id')
  return pageOfQuery(people, page)
}

/** Whether the user takes part in the item `i`. */
function takesPart({ column, people }: ItemKind, user: number): RawBuilder<boolean> {
  const [by, source] = [sql.ref(column), sql.ref(`source_${column}`)]
  const linked = Object.values(people).map(
    (table) => sql`exists (select 1 from ${sql.table(table)} a where a.${by} = i.id and a.user_id = ${user})`,
  )
  return sql`(i.author_id = ${user}
    or ${sql.join(linked, sql` or `)}
    or exists (select 1 from award_emoji e where e.${by} = i.id and e.user_id = ${user})
    or exists (select 1 from text_mentions t left join notes n on n.id = t.source_note_id
      where t.${source} = i.id and t.user_id = ${user} and (n.id is null or not n.internal))
    or exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
      where g.${source} = i.id and (n.id is null or not n.internal) and ${isMemberOfMentioned(sql`${user}`)})
    or exists (select 1 from notes n where n.${by} = i.id and n.author_id = ${user} and not n.system))`
}

const participation = perKind((kind) =>
  hotQuery(
    (_db, p: { item: number; user: number }) => sql<{ id: number }>`
      select i.id from ${sql.table(kind.table)} i where i.id = ${p.item} and ${takesPart(kind, p.user)}`,
  ),
)

export async function isParticipant(db: Db, kind: ItemKind, item: Item, user: number): Promise<boolean> {
  return item.author_id === user || (await participation(kind)(db, { item: item.id, user })).length > 0
}

/** The explicit subscription, else whether the user participates. */
export async function isSubscribed(app: App, kind: ItemKind, viewer: User | null, item: Item): Promise<boolean> {
  return (await subscribedLookup(kind, viewer, item).ask(app.db))(app)
}

/** The answer may need another query. */
export const subscribedLookup = (
  kind: ItemKind,
  viewer: User | null,
  item: Item,
): Lookup<(app: App) => MaybePromise<boolean>> => {
  if (!viewer) return nothing(() => false)
  const explicit = subscriptionLookup(viewer.id, columnsOfItem(kind, item.id))
  return mapped(
    explicit,
    (subscribed) =>
      ({ db }) =>
        subscribed ?? isParticipant(db, kind, item, viewer.id),
  )
}

/** Ids of items the user is subscribed to. */
export async function subscribedAmong(
  db: Db,
  kind: ItemKind,
  user: number,
  items: readonly number[],
): Promise<Set<number>> {
  const { rows } = await sql<{ id: number }>`select i.id from ${sql.table(kind.table)} i
    left join subscriptions s on ${sql.ref(`s.${kind.column}`)} = i.id and s.user_id = ${user}
    where ${inIdList(db, 'i.id', idList(db, items))} and coalesce(s.subscribed, ${takesPart(kind, user)})`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
