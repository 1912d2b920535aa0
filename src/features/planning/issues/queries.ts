import { sql } from 'kysely'
import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { usersOfItems } from '../items/links.ts'
import { rowFinder } from '../items/rows.ts'
import { issueKind } from './kind.ts'
import { issuePolicy, issuesPolicy, type ViewedIssue } from './policy.ts'

/** `/projects/:id/issues`: the project. */
export const issues = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: issuesPolicy,
  find: (app, { id }, viewer) => findProjectSubject(app, id, viewer),
})

const met = hotQuery((db, p: { project: number; iid: number; viewer: number }) =>
  db
    .selectFrom('issues')
    .selectAll()
    .select(
      sql<boolean>`exists (select 1 from issue_assignees a
        where a.issue_id = issues.id and a.user_id = ${p.viewer})`.as('assigned'),
    )
    .where('project_id', '=', p.project)
    .where('iid', '=', p.iid),
)

/** The issue for one viewer. The caller checks whether the viewer may read it. */
export async function findIssue(db: Db, project: number, iid: number, viewer: number): Promise<ViewedIssue | null> {
  const [issue] = await met(db, { project, iid, viewer })
  return issue ? { ...issue, assigned: Boolean(issue.assigned) } : null
}

const issueIn = (named: { name?: string }) =>
  child(issues, {
    ...named,
    key: 'issue',
    params: { issue_iid: id },
    policy: issuePolicy,
    find: ({ db }, { project, viewer }, { issue_iid }) => findIssue(db, project.id, issue_iid, viewer?.id ?? 0),
  })

export const issue = issueIn({})

/** The same, with `Issue` in the 404 message. */
export const issueByItsName = issueIn({ name: 'Issue' })

/** In the order of `ids`. */
export const findIssues = rowFinder(issueKind)

/** User ids by issue id. */
export const assigneesOf = (db: Db, ids: readonly number[]): Promise<Map<number, number[]>> =>
  usersOfItems(db, issueKind, 'assignees', ids)

export const findUserAgentDetail = (db: Db, issue: number): Promise<Row<'user_agent_details'> | undefined> =>
  db.selectFrom('user_agent_details').selectAll().where('issue_id', '=', issue).orderBy('id').executeTakeFirst()
