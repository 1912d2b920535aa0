import { casesOf } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'

export const cases = casesOf(
  `
                                                                       anon strg extn guest rept devl mast ownr admn blkd
  PUT /projects/:id/merge_requests/:merge_request_iid/merge    private  401  404  404  401  401  200  200  200  200  401
                                                               public   401  401  401  401  401  200  200  200  200  401
`,
  { 'PUT /projects/:id/merge_requests/:merge_request_iid/merge': { at } },
)
