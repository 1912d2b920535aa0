import { casesOf, unique } from '../../../../test/cases.ts'

const tip = () => ({ sha: 'master' })

export const cases = casesOf(
  `
                                                              anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/repository/commits/:sha/statuses  private  401  404  404  403  200  200  200  200  200  401
                                                      public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/statuses/:sha                    private  401  404  404  403  403  201  201  201  201  401
                                                      public   401  403  403  403  403  201  201  201  201  401
`,
  {
    'GET /projects/:id/repository/commits/:sha/statuses': { at: tip },
    'POST /projects/:id/statuses/:sha': { at: tip, input: () => ({ state: 'success', name: unique('check') }) },
  },
)
