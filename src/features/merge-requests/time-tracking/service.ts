import { timestamp } from '../../../clock.ts'
import { emit } from '../../../store/outbox.ts'
import { trackTime } from '../../planning/time-tracking/tracking.ts'
import { lockMergeRequest } from '../merge-requests/service.ts'

export const { estimate, resetEstimate, spend, resetSpent } = trackTime({
  hold: lockMergeRequest,
  store: ({ db, clock }, id, times, by) =>
    db
      .updateTable('merge_requests')
      .set({ ...times, updated_by_id: by, updated_at: timestamp(clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  noteable: ({ id, project_id }) => ({ project_id, merge_request_id: id }),
  tell: (app, { id, project_id }, by, changes) => emit(app, 'merge_request.updated', { id, project_id, by, changes }),
})
