import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'

/** What waits for the signed-in user. There are no merge requests, issues and todos yet, so nothing does. */
export const get = endpoint({
  method: 'GET',
  path: '/user_counts',
  summary: 'Count what waits for the signed-in user',
  allow: 'signed_in',
  scopes: ['read_user'],
  output: entity({
    merge_requests: z.int(),
    assigned_issues: z.int(),
    assigned_merge_requests: z.int(),
    review_requested_merge_requests: z.int(),
    todos: z.int(),
  }).meta({ id: 'UserCounts' }),
  handle: async () => ({
    merge_requests: 0,
    assigned_issues: 0,
    assigned_merge_requests: 0,
    review_requested_merge_requests: 0,
    todos: 0,
  }),
})
