import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { mergeRequestAt, ownMergeRequest as at } from '../../../../test/merge-requests.ts'

/** A merge request with auto-merge. */
async function waiting(s: Stage) {
  const { iid, sha } = await mergeRequestAt(s)
  await s.make(projectPath(s, `/statuses/${sha}`), { state: 'running', name: 'ci' })
  await s.owner.put(projectPath(s, `/merge_requests/${iid}/merge`), { merge_when_pipeline_succeeds: true })
  return { merge_request_iid: iid as number }
}

export const cases = casesOf(
  `
                                                                       anon strg extn guest rept devl mast ownr admn blkd
  PUT /projects/:id/merge_requests/:merge_request_iid/merge    private  401  404  404  401  401  200  200  200  200  401
                                                               public   401  401  401  401  401  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/rebase   private  401  404  404  403  403  202  202  202  202  401
                                                               public   401  403  403  403  403  202  202  202  202  401
  PUT /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds   private  401  404  404  401  401  200  200  200  200  401
                                                               public   401  401  401  401  401  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds   private  401  404  404  401  401  200  200  200  200  401
                                                               public   401  401  401  401  401  200  200  200  200  401
`,
  {
    'PUT /projects/:id/merge_requests/:merge_request_iid/merge': { at, input: { merge_commit_message: 'Merge' } },
    'PUT /projects/:id/merge_requests/:merge_request_iid/rebase': { at, input: { skip_ci: true } },
    'PUT /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds': { at: waiting },
    'POST /projects/:id/merge_requests/:merge_request_iid/cancel_merge_when_pipeline_succeeds': { at: waiting },
  },
)
