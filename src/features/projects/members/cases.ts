import { casesOf, projectPath, memberAt, removedMemberAt } from '../../../../test/cases.ts'

const [member, removed] = [memberAt(projectPath), removedMemberAt(projectPath)]

export const cases = casesOf(
  `
                                                       anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/users                      private  404  404  404  200  200  200  200  200  200  401
                                               public   200  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members                    private  401  404  404  200  200  200  200  200  200  401
                                               public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/all                private  401  404  404  200  200  200  200  200  200  401
                                               public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/:user_id           private  401  404  404  200  200  200  200  200  200  401
                                               public   401  200  200  200  200  200  200  200  200  401
  GET /projects/:id/members/all/:user_id       private  401  404  404  200  200  200  200  200  200  401
                                               public   401  200  200  200  200  200  200  200  200  401
  POST /projects/:id/members                   private  401  404  404  403  403  403  201  201  201  401
                                               public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/members/:user_id           private  401  404  404  403  403  403  200  200  200  401
                                               public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/members/:user_id        private  401  404  404  403  403  403  204  204  204  401
                                               public   401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/members/:user_id/restore  private  401  404  404  403  403  403  201  201  201  401
                                               public   401  403  403  403  403  403  201  201  201  401
`,
  {
    'GET /projects/:id/members/:user_id': { at: member },
    'GET /projects/:id/members/all/:user_id': { at: (s) => ({ user_id: s.owner.id }) },
    'POST /projects/:id/members': { input: async (s) => ({ user_id: (await s.newcomer()).id, access_level: 30 }) },
    'PUT /projects/:id/members/:user_id': { at: member, input: { access_level: 20 } },
    'DELETE /projects/:id/members/:user_id': { at: member },
    'POST /projects/:id/members/:user_id/restore': { own: removed },
  },
)
