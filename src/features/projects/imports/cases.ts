import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                       anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/import     private  401  404  404  200  200  200  200  200  200  401
                               public   401  200  200  200  200  200  200  200  200  401
  DELETE /projects/:id/import  private  401  404  404  403  403  403  304  304  304  401
                               public   401  403  403  403  403  403  304  304  304  401
`,
)
