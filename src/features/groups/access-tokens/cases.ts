import { casesOf, groupPath, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newToken = () => ({ name: unique('robot'), scopes: ['read_api'], access_level: 20, expires_at: '2999-01-01' })

const ofGroup = async (s: Stage) => ({ token_id: (await s.make(groupPath(s, '/access_tokens'), newToken())).id })
const ofProject = async (s: Stage) => ({ token_id: (await s.make(projectPath(s, '/access_tokens'), newToken())).id })

export const cases = casesOf(
  `
                                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /groups/:id/access_tokens                          private  401  404  404  401  401  401  401  200  200  401
                                                          public  401  401  401  401  401  401  401  200  200  401
  GET /groups/:id/access_tokens/:token_id                private  401  404  404  401  401  401  401  200  200  401
                                                          public  401  401  401  401  401  401  401  200  200  401
  POST /groups/:id/access_tokens                         private  401  404  404  400  400  400  400  201  201  401
                                                          public  401  400  400  400  400  400  400  201  201  401
  POST /groups/:id/access_tokens/:token_id/rotate        private  401  404  404  401  401  401  401  200  200  401
                                                          public  401  401  401  401  401  401  401  200  200  401
  DELETE /groups/:id/access_tokens/:token_id             private  401  404  404  401  401  401  401  204  204  401
                                                          public  401  401  401  401  401  401  401  204  204  401
  GET /projects/:id/access_tokens                        private  401  404  404  401  401  401  200  200  200  401
                                                          public  401  401  401  401  401  401  200  200  200  401
  GET /projects/:id/access_tokens/:token_id              private  401  404  404  401  401  401  200  200  200  401
                                                          public  401  401  401  401  401  401  200  200  200  401
  POST /projects/:id/access_tokens                       private  401  404  404  400  400  400  201  201  201  401
                                                          public  401  400  400  400  400  400  201  201  201  401
  POST /projects/:id/access_tokens/:token_id/rotate      private  401  404  404  401  401  401  200  200  200  401
                                                          public  401  401  401  401  401  401  200  200  200  401
  DELETE /projects/:id/access_tokens/:token_id           private  401  404  404  401  401  401  204  204  204  401
                                                          public  401  401  401  401  401  401  204  204  204  401
`,
  {
    'GET /groups/:id/access_tokens/:token_id': { at: ofGroup },
    'POST /groups/:id/access_tokens': { input: newToken },
    'POST /groups/:id/access_tokens/:token_id/rotate': { at: ofGroup, input: { expires_at: '2999-02-01' } },
    'DELETE /groups/:id/access_tokens/:token_id': { at: ofGroup },
    'GET /projects/:id/access_tokens/:token_id': { at: ofProject },
    'POST /projects/:id/access_tokens': { input: newToken },
    'POST /projects/:id/access_tokens/:token_id/rotate': { at: ofProject, input: { expires_at: '2999-02-01' } },
    'DELETE /projects/:id/access_tokens/:token_id': { at: ofProject },
  },
)
