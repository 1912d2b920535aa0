import { casesOf, newProject } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /users/:user_id/starred_projects  private  200  200  200  200  200  200  200  200  200  401
                                        public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/star               private  401  404  404  200  200  200  200  200  200  401
                                        public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/unstar             private  401  404  404  304  304  304  304  304  304  401
                                        public   401  304  304  304  304  304  304  304  304  401
  GET /projects/:id/starrers            private  401  404  404  200  200  200  200  200  200  401
                                        public   401  200  200  200  200  200  200  200  200  401
`,
  {
    'GET /users/:user_id/starred_projects': { at: (s) => ({ user_id: s.owner.id }) },
    'POST /projects/:id/unstar': { at: newProject },
  },
)
