import { sql } from 'kysely'
import type { Page, PageWish } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
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

const takesPart = hotQuery((db, p: { issue: number; user: number }) =>
  db
    .selectFrom('users')
    .select('id')
    .where('id', '=', p.user)
    .where(
      sql<boolean>`(exists (select 1 from issue_assignees a where a.issue_id = ${p.issue} and a.user_id = users.id)
        or exists (select 1 from award_emoji e where e.issue_id = ${p.issue} and e.user_id = users.id)
        or exists (select 1 from notes n where n.issue_id = ${p.issue} and n.author_id = users.id and not n.system))`,
    ),
)

export async function isParticipant(db: Db, issue: Issue, user: number): Promise<boolean> {
  return issue.author_id === user || (await takesPart(db, { issue: issue.id, user })).length > 0
}
