import { emit } from '../../../store/outbox.ts'
import { lockIssue, storeTimes } from '../issues/service.ts'
import { trackTime } from './tracking.ts'

export const { estimate, resetEstimate, spend, resetSpent } = trackTime({
  hold: lockIssue,
  store: storeTimes,
  noteable: ({ id, project_id }) => ({ project_id, issue_id: id }),
  tell: (app, { id, project_id }, by, changes) => emit(app, 'issue.updated', { id, project_id, by, changes }),
})
