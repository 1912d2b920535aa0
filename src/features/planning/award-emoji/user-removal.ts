import { sql } from 'kysely'
import type { OnUserRemoved } from '../../../context.ts'

/** The successor takes over reactions, but at most one of each emoji. Without a successor they are deleted. */
export const releaseAwards: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  await db
    .updateTable('award_emoji')
    .set({ user_id: successor.id })
    .where('user_id', '=', id)
    .where(
      sql<boolean>`not exists (select 1 from award_emoji e where e.user_id = ${successor.id} and e.name = award_emoji.name
        and (e.issue_id = award_emoji.issue_id or e.merge_request_id = award_emoji.merge_request_id
          or e.note_id = award_emoji.note_id
          or e.snippet_id = award_emoji.snippet_id))`,
    )
    .execute()
}
