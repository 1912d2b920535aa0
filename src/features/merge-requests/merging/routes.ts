import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { bool, longText, text } from '../../../api/wire.ts'
import { MergeRequestDetailEntity } from '../merge-requests/entity.ts'
import { presentOneMergeRequest } from '../merge-requests/load.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { acceptMergeRequest } from './accept.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'

export const accept = endpoint({
  method: 'PUT',
  path: `${ITEM}/merge`,
  summary: 'Merge the source branch into the target branch',
  on: mergeRequest,
  allow: 'readMergeRequest',
  denied: 'unauthenticated',
  lane: 'git',
  input: z.object({
    merge_commit_message: longText.nullish(),
    squash_commit_message: longText.nullish(),
    should_remove_source_branch: bool.nullish(),
    squash: bool.nullish(),
    sha: text.nullish(),
  }),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    const merged = await acceptMergeRequest(app, viewer, subject, input)
    return presentOneMergeRequest(app, viewer, subject, merged)
  },
})
