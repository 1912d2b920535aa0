import { sql } from 'kysely'
import type { Page, PageRequest } from '../../../api/pages.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { Guest } from '../../../lib/levels.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { isMemberOfMentioned } from '../../planning/issues/participants.ts'
import type { MergeRequest } from './model.ts'

type NamedRecord = Pick<MergeRequest, 'id' | 'author_id' | 'project_id'>

/**
 * Ids of the author, assignees, reviewers, commenters, users who reacted, and mentioned users. Internal notes do not
 * count. Of a mentioned group only members of the project count: its other members may be private.
 */
const participantsOf = ({ id, author_id, project_id }: NamedRecord) => sql<number>`
  select user_id from merge_request_assignees where merge_request_id = ${id}
  union select user_id from merge_request_reviewers where merge_request_id = ${id}
  union select user_id from award_emoji where merge_request_id = ${id}
  union select author_id from notes
    where merge_request_id = ${id} and not system and not internal and author_id is not null
  union select t.user_id from text_mentions t left join notes n on n.id = t.source_note_id
    where t.source_merge_request_id = ${id} and (n.id is null or not n.internal)
  union select p.user_id from project_authorizations p
    where p.project_id = ${project_id} and p.access_level >= ${sql.lit(Guest)}
    and exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
      where g.source_merge_request_id = ${id} and (n.id is null or not n.internal)
      and ${isMemberOfMentioned(sql.ref('p.user_id'))})
  union select ${author_id}`

/** For mail, in no order. */
export async function participantIds(db: Db, one: NamedRecord): Promise<number[]> {
  const { rows } = await sql<{ user_id: number | null }>`select p.user_id from (${participantsOf(one)}) p`.execute(db)
  return rows.flatMap(({ user_id }) => user_id ?? [])
}

export function listParticipants(db: Db, one: NamedRecord, page: PageRequest): Promise<Page<User>> {
  const people = db
    .selectFrom('users')
    .selectAll()
    .where(sql<boolean>`users.id in (${participantsOf(one)})`)
    .orderBy('users.id')
  return pageOfQuery(people, page)
}

const takesPart = (user: number) => sql<boolean>`(m.author_id = ${user}
  or exists (select 1 from merge_request_assignees a where a.merge_request_id = m.id and a.user_id = ${user})
  or exists (select 1 from merge_request_reviewers r where r.merge_request_id = m.id and r.user_id = ${user})
  or exists (select 1 from award_emoji e where e.merge_request_id = m.id and e.user_id = ${user})
  or exists (select 1 from text_mentions t left join notes n on n.id = t.source_note_id
    where t.source_merge_request_id = m.id and t.user_id = ${user} and (n.id is null or not n.internal))
  or exists (select 1 from text_group_mentions g left join notes n on n.id = g.source_note_id
    where g.source_merge_request_id = m.id and (n.id is null or not n.internal) and ${isMemberOfMentioned(sql`${user}`)})
  or exists (select 1 from notes n where n.merge_request_id = m.id and n.author_id = ${user} and not n.system))`

const participation = hotQuery((db, p: { id: number; user: number }) =>
  db.selectFrom('merge_requests as m').select('m.id').where('m.id', '=', p.id).where(takesPart(p.user)),
)

export async function isParticipant(db: Db, one: NamedRecord, user: number): Promise<boolean> {
  return one.author_id === user || (await participation(db, { id: one.id, user })).length > 0
}
