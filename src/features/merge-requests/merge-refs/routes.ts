import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { mergeToRef } from './service.ts'

const making = (method: 'GET' | 'PUT') =>
  endpoint({
    method,
    path: '/projects/:id/merge_requests/:merge_request_iid/merge_ref',
    summary: 'Get the merge preview commit at refs/merge-requests/:iid/merge',
    on: mergeRequest,
    allow: 'readCode',
    limiter: 'git',
    output: entity({ commit_id: z.string() }),
    async handle({ app, viewer, subject }) {
      return { commit_id: await mergeToRef(app, viewer, subject) }
    },
  })

export const get = making('GET')
/** The method that gitbeaker uses. */
export const update = making('PUT')
