import { sql } from 'kysely'
import { on } from '../../../context.ts'

/** Unassigns former members from open issues in projects they no longer have access to. Closed ones stay unchanged. */
export const unassignFormerMember = on('member.removed', 'issues', async (app, { user_id, project_id, group_id }) => {
  const isLeft =
    project_id === null
      ? sql<boolean>`i.project_id in (select p.id from projects p
          join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group_id})`
      : sql<boolean>`i.project_id = ${project_id}`
  await sql`delete from issue_assignees where user_id = ${user_id} and issue_id in (
    select i.id from issue_assignees x join issues i on i.id = x.issue_id where x.user_id = ${user_id} and ${isLeft}
    and i.state = 'opened'
    and not exists (select 1 from project_authorizations t where t.user_id = ${user_id} and t.project_id = i.project_id)
  )`.execute(app.db)
})
