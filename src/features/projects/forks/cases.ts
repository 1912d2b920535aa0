import { casesOf, newProject, unique } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                                   anon strg extn guest rept devl mast ownr admn blkd
  POST /projects/:id/fork                  private  401  404  404  409  201  201  201  201  201  401
                                           public   401  201  403  201  201  201  201  201  201  401
  GET /projects/:id/forks                  private  404  404  404  200  200  200  200  200  200  401
                                           public   200  200  200  200  200  200  200  200  200  401
  POST /projects/:id/fork/:forked_from_id  private  401  403  403  403  403  403  403  403  201  401
                                           public   401  403  403  403  403  403  403  403  201  401
  DELETE /projects/:id/fork                private  401  403  403  403  403  403  403  403  304  401
                                           public   401  403  403  403  403  403  403  403  304  401
`,
  {
    'POST /projects/:id/fork': { input: () => ({ name: unique('fork'), path: unique('fork') }) },
    'POST /projects/:id/fork/:forked_from_id': {
      at: async (s) => ({ ...(await newProject(s)), forked_from_id: s.project.id }),
    },
  },
)
