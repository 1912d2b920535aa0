import { casesOf } from '../../../../test/cases.ts'

const tip = () => ({ sha: 'master' })

export const cases = casesOf(
  `
                                                               anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/commits/:sha/comments   private  404  404  404  403  200  200  200  200  200  401
                                                       public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/repository/commits/:sha/comments  private  401  404  404  403  201  201  201  201  201  401
                                                       public   401  201  201  201  201  201  201  201  201  401
`,
  {
    'GET /projects/:id/repository/commits/:sha/comments': { at: tip },
    'POST /projects/:id/repository/commits/:sha/comments': { at: tip, input: { note: 'x' } },
  },
)
