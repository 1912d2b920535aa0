import { casesOf, type Stage } from '../../../../test/cases.ts'
import { oneMergeRequest as at } from '../../../../test/merge-requests.ts'

/** The project has no CI configuration: callers with permission get that as the reason. */
const refused = async (s: Stage) => at(s)

export const cases = casesOf(
  `
                                                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/merge_requests/:merge_request_iid/pipelines   private  401  404  404  403  200  200  200  200  200  401
                                                                  public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/merge_requests/:merge_request_iid/pipelines  private  401  404  404  403  400  400  400  400  400  401
                                                                  public   401  400  400  400  400  400  400  400  400  401
`,
  {
    'GET /projects/:id/merge_requests/:merge_request_iid/pipelines': { at },
    'POST /projects/:id/merge_requests/:merge_request_iid/pipelines': { at: refused },
  },
)
