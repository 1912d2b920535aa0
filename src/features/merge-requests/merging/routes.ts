import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { bool, entity, longText, text } from '../../../api/wire.ts'
import { MergeRequestDetailEntity } from '../merge-requests/entity.ts'
import { presentOneMergeRequest } from '../merge-requests/load.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { acceptMergeRequest } from './accept.ts'
import { rebaseMergeRequest } from './rebase.ts'
import { acceptWhenReady, cancelAutoMerge } from './auto-merge.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'

export const accept = endpoint({
  method: 'PUT',
  path: `${ITEM}/merge`,
  summary: 'Merge the source branch into the target branch',
  on: mergeRequest,
  allow: 'merge',
  denied: 'unauthenticated',
  alsoAsks: ['merge into the target branch'],
  limiter: 'git',
  input: z.object({
    merge_commit_message: longText.nullish(),
    squash_commit_message: longText.nullish(),
    should_remove_source_branch: bool.nullish(),
    squash: bool.nullish(),
    sha: text.nullish(),
    merge_when_pipeline_succeeds: bool.nullish(),
    auto_merge: bool.nullish(),
  }),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    const { merge_when_pipeline_succeeds, auto_merge, ...request } = input
    const accept = (merge_when_pipeline_succeeds ?? auto_merge) ? acceptWhenReady : acceptMergeRequest
    return presentOneMergeRequest(app, viewer, subject, await accept(app, viewer, subject, request))
  },
})

const cancelling = (method: 'PUT' | 'POST') =>
  endpoint({
    method,
    path: `${ITEM}/cancel_merge_when_pipeline_succeeds`,
    summary: 'Cancel auto-merge',
    on: mergeRequest,
    allow: 'cancelAutoMerge',
    denied: 'unauthenticated',
    alsoAsks: ['merge into the target branch, except for the author'],
    status: 200,
    output: MergeRequestDetailEntity,
    handle: async ({ app, viewer, subject }) =>
      presentOneMergeRequest(app, viewer, subject, await cancelAutoMerge(app, viewer, subject)),
  })

export const cancel = cancelling('PUT')
/** The method of newer clients. */
export const cancelByPost = cancelling('POST')

export const rebase = endpoint({
  method: 'PUT',
  path: `${ITEM}/rebase`,
  summary: 'Rebase a merge request; with `stack`, also the merge requests based on it',
  on: mergeRequest,
  allow: 'update',
  alsoAsks: ['push to the source branch, also with force'],
  limiter: 'git',
  status: 202,
  input: z.object({ skip_ci: bool.nullish(), stack: bool.nullish() }),
  output: entity({ rebase_in_progress: z.boolean() }),
  async handle({ app, viewer, subject, input }) {
    await rebaseMergeRequest(app, viewer, subject, { stack: input.stack ?? false })
    return { rebase_in_progress: true }
  },
})
