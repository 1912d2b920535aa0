import { assertSmallRows } from '../../../store/pages.ts'
import { subscribedAmong } from '../items/participants.ts'
import { registeredKind } from '../items/registry.ts'
import { isOn } from '../seeing.ts'
import { IssueEntity } from './entity.ts'
import { issueKind } from './kind.ts'
import { presentIssues, presentIssuesById } from './load.ts'
import { findIssues, issue } from './queries.ts'
import { issueRules, seesIssue } from './rules.ts'

export const issueItems = registeredKind({
  ...issueRules,
  path: '/projects/:id/issues/:issue_iid',
  resource: issue,
  reading: 'read',
  by: 'visitor',
  itemOf: ({ issue }) => issue,
  timeAdded: 201,
  entity: IssueEntity,
  present: presentIssuesById,
  async presentTargets(app, viewer, ids) {
    await assertSmallRows(app.db, 'issues', 'description', ids)
    const [issues, subscribed] = await Promise.all([
      findIssues(app.db, ids).then((found) => presentIssues(app, viewer, found, { isMixed: true })),
      subscribedAmong(app.db, issueKind, viewer.id, ids),
    ])
    return issues.map((issue) => ({ ...issue, subscribed: subscribed.has(issue.id) }))
  },
  alias: 'i',
  ruling: ['confidential'],
  sees: seesIssue,
  seesAll: () => isOn('issues'),
  statesIn: (state) => (state === 'merged' ? [] : [state]),
})
