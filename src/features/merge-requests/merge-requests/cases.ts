import { casesOf, groupPath, inBin, projectPath, unique, type Stage } from '../../../../test/cases.ts'
import { newMergeRequest, oneMergeRequest as at, ownMergeRequest } from '../../../../test/merge-requests.ts'

const milestoneAt = (path: typeof projectPath) => async (s: Stage) => ({
  milestone_id: (await s.make(path(s, '/milestones'), { title: unique('milestone') })).id,
})

async function deleted(s: Stage) {
  const at = await ownMergeRequest(s)
  await inBin(s, projectPath(s, `/merge_requests/${at.merge_request_iid}`))
  return at
}

export const cases = casesOf(
  `
                                                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /merge_requests                                                          401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/merge_requests                                      private  401  404  404  200  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests                                    private  401  404  404  403  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/milestones/:milestone_id/merge_requests           private  401  404  404  200  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/milestones/:milestone_id/merge_requests             private  401  404  404  200  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests                                   private  401  404  404  403  403  201  201  201  201  401
                                                                      public   401  403  403  403  403  201  201  201  201  401
  GET /projects/:id/merge_requests/:merge_request_iid                 private  401  404  404  403  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid                 private  401  404  404  403  403  200  200  200  200  401
                                                                      public   401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/merge_requests/:merge_request_iid              private  401  404  404  403  403  403  403  204  204  401
                                                                      public   401  403  403  403  403  403  403  204  204  401
  POST /projects/:id/merge_requests/:merge_request_iid/restore        private  401  404  404  403  403  403  403  201  201  401
                                                                      public   401  403  403  403  403  403  403  201  201  401
  POST /projects/:id/merge_requests/:merge_request_iid/subscribe      private  401  404  404  403  403  200  200  304  200  401
                                                                      public   401  403  403  403  403  200  200  304  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe    private  401  404  404  403  403  304  304  200  304  401
                                                                      public   401  403  403  403  403  304  304  200  304  401
  GET /projects/:id/merge_requests/:merge_request_iid/participants    private  401  404  404  403  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/reviewers       private  401  404  404  403  200  200  200  200  200  401
                                                                      public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/milestones/:milestone_id/merge_requests': { at: milestoneAt(projectPath) },
    'GET /groups/:id/milestones/:milestone_id/merge_requests': { at: milestoneAt(groupPath) },
    'POST /projects/:id/merge_requests': { input: newMergeRequest },
    'GET /projects/:id/merge_requests/:merge_request_iid': { at },
    'PUT /projects/:id/merge_requests/:merge_request_iid': { at: ownMergeRequest, input: { title: 'Another' } },
    'DELETE /projects/:id/merge_requests/:merge_request_iid': { at: ownMergeRequest },
    'POST /projects/:id/merge_requests/:merge_request_iid/restore': { at: deleted },
    'POST /projects/:id/merge_requests/:merge_request_iid/subscribe': { at: ownMergeRequest },
    'POST /projects/:id/merge_requests/:merge_request_iid/unsubscribe': { at: ownMergeRequest },
    'GET /projects/:id/merge_requests/:merge_request_iid/participants': { at },
    'GET /projects/:id/merge_requests/:merge_request_iid/reviewers': { at },
  },
)
