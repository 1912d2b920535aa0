import { timeTrackingOn } from '../../planning/time-tracking/endpoints.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import * as work from './service.ts'

export const { stats, setEstimate, clearEstimate, addSpent, clearSpent } = timeTrackingOn({
  path: '/projects/:id/merge_requests/:merge_request_iid',
  noun: 'a merge request',
  on: mergeRequest,
  reading: 'readMergeRequest',
  by: 'user',
  added: 200,
  of: (subject) => subject.mergeRequest,
  work,
})
