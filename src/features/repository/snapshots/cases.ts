import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                      anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/snapshot  private  401  403  403  403  403  403  403  403  200  401
                              public   401  403  403  403  403  403  403  403  200  401
`,
)
