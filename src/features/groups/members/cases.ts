import { casesOf, groupPath, memberAt, removedMemberAt } from '../../../../test/cases.ts'

const [member, removed] = [memberAt(groupPath), removedMemberAt(groupPath)]

export const cases = casesOf(
  `
                                                     anon strg extn guest rept devl mast ownr admn blkd
  GET /groups/:id/members                    private  401  404  404  200  200  200  200  200  200  401
                                             public   401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/all                private  401  404  404  200  200  200  200  200  200  401
                                             public   401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/:user_id           private  401  404  404  200  200  200  200  200  200  401
                                             public   401  200  200  200  200  200  200  200  200  401
  GET /groups/:id/members/all/:user_id       private  401  404  404  200  200  200  200  200  200  401
                                             public   401  200  200  200  200  200  200  200  200  401
  POST /groups/:id/members                   private  401  404  404  403  403  403  403  201  201  401
                                             public   401  403  403  403  403  403  403  201  201  401
  PUT /groups/:id/members/:user_id           private  401  404  404  403  403  403  403  200  200  401
                                             public   401  403  403  403  403  403  403  200  200  401
  DELETE /groups/:id/members/:user_id        private  401  404  404  403  403  403  403  204  204  401
                                             public   401  403  403  403  403  403  403  204  204  401
  POST /groups/:id/members/:user_id/restore  private  401  404  404  403  403  403  403  201  201  401
                                             public   401  403  403  403  403  403  403  201  201  401
`,
  {
    'GET /groups/:id/members/:user_id': { at: (s) => ({ user_id: s.owner.id }) },
    'GET /groups/:id/members/all/:user_id': { at: (s) => ({ user_id: s.owner.id }) },
    'POST /groups/:id/members': { input: async (s) => ({ user_id: (await s.newcomer()).id, access_level: 30 }) },
    'PUT /groups/:id/members/:user_id': { at: member, input: { access_level: 20 } },
    'DELETE /groups/:id/members/:user_id': { at: member },
    'POST /groups/:id/members/:user_id/restore': { own: removed },
  },
)
