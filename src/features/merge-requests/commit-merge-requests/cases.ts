import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                                    anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/commits/:sha/merge_requests  private  404  404  404  403  200  200  200  200  200  401
                                                            public   200  200  200  200  200  200  200  200  200  401
`,
  { 'GET /projects/:id/repository/commits/:sha/merge_requests': { at: () => ({ sha: 'master' }) } },
)
