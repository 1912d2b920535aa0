import { casesOf } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'

const input = { duration: '1h' }

export const cases = casesOf(
  `
                                                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/time_stats            private  401  404  404  403  200  200  200  200  200  401
                                                                            public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/time_estimate        private  401  404  404  403  403  200  200  200  200  401
                                                                            public   401  403  403  403  403  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/reset_time_estimate  private  401  404  404  403  403  200  200  200  200  401
                                                                            public   401  403  403  403  403  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/add_spent_time       private  401  404  404  403  403  200  200  200  200  401
                                                                            public   401  403  403  403  403  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/reset_spent_time     private  401  404  404  403  403  200  200  200  200  401
                                                                            public   401  403  403  403  403  200  200  200  200  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/time_stats': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/time_estimate': { at, input },
    'POST /projects/:id/merge_requests/:merge_request_iid/reset_time_estimate': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/add_spent_time': { at, input },
    'POST /projects/:id/merge_requests/:merge_request_iid/reset_spent_time': { at },
  },
)
