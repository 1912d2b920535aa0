import { casesOf } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'

export const cases = casesOf(
  `
                                                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/merge_ref   private  401  404  404  403  200  200  200  200  200  401
                                                                  public   401  200  200  200  200  200  200  200  200  401
  PUT /projects/:id/merge_requests/:merge_request_iid/merge_ref   private  401  404  404  403  200  200  200  200  200  401
                                                                  public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/merge_ref': { at },
    'PUT /projects/:id/merge_requests/:merge_request_iid/merge_ref': { at },
  },
)
