import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { Db, Row } from '../../../store/database.ts'
import { findProjectSubject } from '../../projects/projects/queries.ts'
import { findDeletedByIid } from '../bin/queries.ts'
import { usersOfItems } from '../items/links.ts'
import { rowFinder } from '../items/rows.ts'
import { viewedFinder } from '../items/viewed.ts'
import { issueKind } from './kind.ts'
import { issuePolicy, issuesPolicy } from './policy.ts'

/** `/projects/:id/issues`: the project. */
export const issues = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: issuesPolicy,
  find: (app, { id }, viewer) => findProjectSubject(app, id, viewer),
})

export const findIssue = viewedFinder(issueKind)

const issueIn = (named: { name?: string }) =>
  child(issues, {
    ...named,
    key: 'issue',
    params: { issue_iid: id },
    policy: issuePolicy,
    find: (app, { project, viewer }, { issue_iid }) => findIssue(app, project.id, issue_iid, viewer?.id ?? 0),
  })

export const issue = issueIn({})

/** The same, with `Issue` in the 404 message. */
export const issueByItsName = issueIn({ name: 'Issue' })

/** An issue in the bin. */
export const deletedIssue = child(issues, {
  name: 'Issue',
  key: 'deleted',
  params: { issue_iid: id },
  find: ({ db }, { project }, { issue_iid }) => findDeletedByIid(db, issueKind.key, project.id, issue_iid),
})

/** In the order of `ids`. */
export const findIssues = rowFinder(issueKind)

/** User ids by issue id. */
export const assigneesOf = (db: Db, ids: readonly number[]): Promise<Map<number, number[]>> =>
  usersOfItems(db, issueKind, 'assignees', ids)

export const findUserAgentDetail = (db: Db, issue: number): Promise<Row<'user_agent_details'> | undefined> =>
  db.selectFrom('user_agent_details').selectAll().where('issue_id', '=', issue).orderBy('id').executeTakeFirst()
