import { casesOf } from '../../../../test/cases.ts'

const issues = { input: { scope: 'issues', search: 'anything' } }

export const cases = casesOf(
  `
                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /search                              401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/search          private  401  404  404  200  200  200  200  200  200  401
                                  public   401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/-/search        private  401  404  404  200  200  200  200  200  200  401
                                  public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/search        private  401  404  404  200  200  200  200  200  200  401
                                  public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/-/search      private  401  404  404  200  200  200  200  200  200  401
                                  public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /search': issues,
    'GET /groups/:id/search': issues,
    'GET /groups/:id/-/search': issues,
    'GET /projects/:id/search': issues,
    'GET /projects/:id/-/search': issues,
  },
)
