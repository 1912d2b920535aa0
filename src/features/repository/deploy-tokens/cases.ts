import { casesOf, groupPath, projectPath, type Stage } from '../../../../test/cases.ts'

const newToken = { name: 'robot', scopes: ['read_repository'] }

const ofGroup = async (s: Stage) => ({ token_id: (await s.make(groupPath(s, '/deploy_tokens'), newToken)).id })
const ofProject = async (s: Stage) => ({ token_id: (await s.make(projectPath(s, '/deploy_tokens'), newToken)).id })

export const cases = casesOf(
  `
                                                        anon strg extn guest rept devl mast ownr admn blkd
  GET /deploy_tokens                                     401  403  403  403  403  403  403  403  200  401
  GET /groups/:id/deploy_tokens                 private  401  404  404  403  403  403  403  200  200  401
                                                public   401  403  403  403  403  403  403  200  200  401
  GET /groups/:id/deploy_tokens/:token_id       private  401  404  404  403  403  403  403  200  200  401
                                                public   401  403  403  403  403  403  403  200  200  401
  POST /groups/:id/deploy_tokens                private  401  404  404  403  403  403  403  201  201  401
                                                public   401  403  403  403  403  403  403  201  201  401
  DELETE /groups/:id/deploy_tokens/:token_id    private  401  404  404  403  403  403  403  204  204  401
                                                public   401  403  403  403  403  403  403  204  204  401
  GET /projects/:id/deploy_tokens               private  401  404  404  403  403  403  200  200  200  401
                                                public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/deploy_tokens/:token_id     private  401  404  404  403  403  403  200  200  200  401
                                                public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_tokens              private  401  404  404  403  403  403  201  201  201  401
                                                public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_tokens/:token_id  private  401  404  404  403  403  403  204  204  204  401
                                                public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /groups/:id/deploy_tokens/:token_id': { at: ofGroup },
    'POST /groups/:id/deploy_tokens': { input: newToken },
    'DELETE /groups/:id/deploy_tokens/:token_id': { at: ofGroup },
    'GET /projects/:id/deploy_tokens/:token_id': { at: ofProject },
    'POST /projects/:id/deploy_tokens': { input: newToken },
    'DELETE /projects/:id/deploy_tokens/:token_id': { at: ofProject },
  },
)
