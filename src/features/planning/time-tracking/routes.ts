import { issueKind } from '../issues/kind.ts'
import { issue } from '../issues/queries.ts'
import { timeTrackingOn } from './endpoints.ts'

export const { stats, setEstimate, clearEstimate, addSpent, clearSpent } = timeTrackingOn({
  kind: issueKind,
  path: '/projects/:id/issues/:issue_iid',
  on: issue,
  reading: 'read',
  by: 'visitor',
  added: 201,
  of: (subject) => subject.issue,
})
