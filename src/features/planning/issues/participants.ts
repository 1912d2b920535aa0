import { sql, type RawBuilder } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import { Guest } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Issue } from './model.ts'

/** Whether the user is a member of the group or project that `g` mentions. */
export const isMemberOfMentioned = (user: RawBuilder<unknown>) => sql<boolean>`(
  (g.group_id is null and exists (select 1 from project_authorizations a
    where a.project_id = g.source_project_id and a.user_id = ${user} and a.access_level >= ${sql.lit(Guest)}))
  or exists (select 1 from members m join namespace_ancestors up on up.ancestor_id = m.group_id
    where up.namespace_id = g.group_id and m.user_id = ${user}))`

/**
 * Ids of the author, assignees, commenters, users who reacted, and mentioned users. Internal notes do not count. Of a
 * mentioned group only members of the project count: its other members may be private.
 */
const participantsOf = ({ id, author_id, project_id }: Pick<Issue, 'id' | 'author_id' | 'project_id'>) => sql<number>`
  select user_id from issue_assignees where issue_id = ${id}
  union select user_id from award_emoji where issue_id = ${id}
  union select author_id from notes
    where issue_id = ${id} and not system and not internal and author_id is not null
  union select t.user_id from text_mentions t left join notes n on n.id = t.source_note_id
    where t.source_issue_id = ${id} and (n.id is null or not n.internal)
  union select p.user_id from project_authorizations p
    where p.project_id = ${project_id} and p.access_level >= ${sql.lit(Guest)}
    and exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
      where g.source_issue_id = ${id} and (n.id is null or not n.internal) and ${isMemberOfMentioned(sql.ref('p.user_id'))})
  union select ${author_id}`

/** For mail, in no order. */
export async function participantIds(db: Db, issue: Issue): Promise<number[]> {
  const { rows } = await sql<{ user_id: number | null }>`select p.user_id from (${participantsOf(issue)}) p`.execute(db)
  return rows.flatMap(({ user_id }) => user_id ?? [])
}

export function listParticipants(db: Db, issue: Issue, page: PageRequest): Promise<Page<User>> {
  const people = db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`users.id in (${participantsOf(issue)})`)
    .orderBy('users.id')
  return pageOfQuery(people, page)
}

const takesPart = (user: number) => sql<boolean>`(i.author_id = ${user}
  or exists (select 1 from issue_assignees a where a.issue_id = i.id and a.user_id = ${user})
  or exists (select 1 from award_emoji e where e.issue_id = i.id and e.user_id = ${user})
  or exists (select 1 from text_mentions t left join notes n on n.id = t.source_note_id
    where t.source_issue_id = i.id and t.user_id = ${user} and (n.id is null or not n.internal))
  or exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
    where g.source_issue_id = i.id and (n.id is null or not n.internal) and ${isMemberOfMentioned(sql`${user}`)})
  or exists (select 1 from notes n where n.issue_id = i.id and n.author_id = ${user} and not n.system))`

const participation = hotQuery((db, p: { issue: number; user: number }) =>
  db.selectFrom('issues as i').select('i.id').where('i.id', '=', p.issue).where(takesPart(p.user)),
)

export async function isParticipant(db: Db, issue: Issue, user: number): Promise<boolean> {
  return issue.author_id === user || (await participation(db, { issue: issue.id, user })).length > 0
}

/** Ids of issues the user is subscribed to: explicitly, else by participation. */
export async function subscribedAmong(db: Db, user: number, issues: readonly number[]): Promise<Set<number>> {
  const found = await db
    .selectFrom('issues as i')
    .leftJoin('subscriptions as s', (join) => join.onRef('s.issue_id', '=', 'i.id').on('s.user_id', '=', user))
    .select('i.id')
    .where(inIdList(db, 'i.id', idList(db, issues)))
    .where(sql<boolean>`coalesce(s.subscribed, ${takesPart(user)})`)
    .execute()
  return new Set(found.map(({ id }) => id))
}
