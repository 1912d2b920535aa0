import { sql } from 'kysely'
import { on } from '../../../context.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { findUser } from '../../identity/users/queries.ts'

/** Deletes subscriptions of former members to records they can no longer see. */
export const deleteSubscriptionsOfFormerMember = on('member.removed', 'subscriptions', async (app, { user_id }) => {
  const user = await findUser(app.db, user_id)
  if (!user || user.admin) return
  await sql`delete from subscriptions where user_id = ${user_id} and id in (
    select s.id from subscriptions s
    left join issues i on i.id = s.issue_id
    left join merge_requests m on m.id = s.merge_request_id
    left join labels l on l.id = s.label_id
    join projects p on p.id = coalesce(i.project_id, m.project_id, s.project_id, l.project_id)
    where s.user_id = ${user_id} and p.visibility not in (${sql.join(openVisibilities(user))})
    and not exists (select 1 from project_authorizations a where a.user_id = s.user_id and a.project_id = p.id)
  )`.execute(app.db)
})
