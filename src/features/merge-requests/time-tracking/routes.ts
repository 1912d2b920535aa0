import { timeTrackingOn } from '../../planning/time-tracking/endpoints.ts'
import { mergeRequestKind } from '../merge-requests/kind.ts'
import { mergeRequest } from '../merge-requests/queries.ts'

export const { stats, setEstimate, clearEstimate, addSpent, clearSpent } = timeTrackingOn({
  kind: mergeRequestKind,
  path: '/projects/:id/merge_requests/:merge_request_iid',
  on: mergeRequest,
  reading: 'readMergeRequest',
  by: 'user',
  added: 200,
  of: (subject) => subject.mergeRequest,
})
