import { casesOf } from '../../../../test/cases.ts'

const range = { version: '1.0.0', from: 'master' }

export const cases = casesOf(
  `
                                                   anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/changelog   private  404  404  404  403  200  200  200  200  200  401
                                           public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/changelog  private  401  404  404  403  403  200  200  200  200  401
                                           public   401  403  403  403  403  200  200  200  200  401
`,
  {
    'GET /projects/:id/repository/changelog': { input: range },
    'POST /projects/:id/repository/changelog': { input: range },
  },
)
