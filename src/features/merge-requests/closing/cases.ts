import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest } from '../../../../test/merge-requests.ts'

const issue = async (s: Stage) => ({ issue_iid: (await s.make(projectPath(s, '/issues'), { title: 'A case' })).iid })

export const cases = casesOf(
  `
                                                                             anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/closes_issues  private  401  404  404  403  200  200  200  200  200  401
                                                                     public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/merge_requests/:merge_request_iid/related_issues private  401  404  404  403  200  200  200  200  200  401
                                                                     public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/closed_by                      private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/issues/:issue_iid/related_merge_requests         private  404  404  404  200  200  200  200  200  200  401
                                                                     public   200  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/closes_issues': { at: oneMergeRequest },
    'GET /projects/:id/merge_requests/:merge_request_iid/related_issues': { at: oneMergeRequest },
    'GET /projects/:id/issues/:issue_iid/closed_by': { at: issue },
    'GET /projects/:id/issues/:issue_iid/related_merge_requests': { at: issue },
  },
)
