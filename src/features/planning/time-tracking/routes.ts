import { issue } from '../issues/queries.ts'
import { timeTrackingOn } from './endpoints.ts'
import * as work from './service.ts'

export const { stats, setEstimate, clearEstimate, addSpent, clearSpent } = timeTrackingOn({
  path: '/projects/:id/issues/:issue_iid',
  noun: 'an issue',
  on: issue,
  reading: 'read',
  by: 'visitor',
  added: 201,
  of: (subject) => subject.issue,
  work,
})
