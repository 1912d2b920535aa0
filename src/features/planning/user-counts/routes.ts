import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { issueLists } from '../issues/lists.ts'
import { countPendingTodos } from '../todos/queries.ts'
import { countItems } from './queries.ts'

/** Pending work of the signed-in user. */
export const get = endpoint({
  method: 'GET',
  path: '/user_counts',
  summary: 'Count what waits for the signed-in user',
  allow: 'signed_in',
  scopes: ['read_user'],
  output: entity({
    /** For older clients: the assigned ones. */
    merge_requests: z.int(),
    assigned_issues: z.int(),
    assigned_merge_requests: z.int(),
    review_requested_merge_requests: z.int(),
    todos: z.int(),
  }).meta({ id: 'UserCounts' }),
  async handle({ app, viewer }) {
    const assigned = { assignee: viewer.id, state: 'opened' as const }
    const [issues, mine, toReview, todos] = await Promise.all([
      issueLists.listAll(app, viewer, assigned, { limit: 0, offset: 0 }),
      countItems(app.db, viewer, 'merge_request', 'assignees'),
      countItems(app.db, viewer, 'merge_request', 'reviewers'),
      countPendingTodos(app, viewer),
    ])
    return {
      merge_requests: mine,
      assigned_issues: issues.total,
      assigned_merge_requests: mine,
      review_requested_merge_requests: toReview,
      todos,
    }
  },
})
