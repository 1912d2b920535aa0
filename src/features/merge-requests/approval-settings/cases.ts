import { casesOf } from '../../../../test/cases.ts'

const input = { merge_requests_author_approval: false }

export const cases = casesOf(
  `
                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/approvals    private  401  404  404  403  200  200  200  200  200  401
                                 public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/approvals   private  401  404  404  403  403  403  201  201  201  401
                                 public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/approvals    private  401  404  404  403  403  403  200  200  200  401
                                 public   401  403  403  403  403  403  200  200  200  401
`,
  { 'POST /projects/:id/approvals': { input }, 'PUT /projects/:id/approvals': { input } },
)
