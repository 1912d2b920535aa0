import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/access              private  401  404  404  200  200  200  200  200  200  401
                                        public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/access (another’s)  private  401  404  404  403  403  403  403  200  200  401
                                        public   401  403  403  403  403  403  403  200  200  401
`,
  {
    'GET /projects/:id/access (another’s)': { input: (s) => ({ user_id: s.cast.people.blocked.id }) },
  },
)
