import { sql } from 'kysely'
import type { Page, PageWish } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Issue } from './model.ts'

/** Ids of those who wrote it, have it to do, spoke of it or reacted to it. What is internal tells of nobody. */
const participantsOf = ({ id, author_id }: Pick<Issue, 'id' | 'author_id'>) => sql<number>`
  select user_id from issue_assignees where issue_id = ${id}
  union select user_id from award_emoji where issue_id = ${id}
  union select author_id from notes
    where issue_id = ${id} and not system and not internal and author_id is not null
  union select ${author_id}`

export function listParticipants(db: Db, issue: Issue, page: PageWish): Promise<Page<User>> {
  const people = db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`users.id in (${participantsOf(issue)})`)
    .orderBy('users.id')
  return pageOfQuery(people, page)
}

export async function isParticipant(db: Db, issue: Issue, user: number): Promise<boolean> {
  if (issue.author_id === user) return true
  const found = await db
    .selectFrom('users')
    .select('id')
    .where('id', '=', user)
    .where(
      sql<boolean>`exists (select 1 from issue_assignees a where a.issue_id = ${issue.id} and a.user_id = users.id)
        or exists (select 1 from award_emoji e where e.issue_id = ${issue.id} and e.user_id = users.id)
        or exists (select 1 from notes n where n.issue_id = ${issue.id} and n.author_id = users.id and not n.system)`,
    )
    .executeTakeFirst()
  return found !== undefined
}
