import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { sshKey } from '../../../../test/samples.ts'

const newKey = () => ({ title: 'robot', key: sshKey() })

const key = async (s: Stage) => ({ key_id: (await s.make(projectPath(s, '/deploy_keys'), newKey())).id })

export const cases = casesOf(
  `
                                                         anon strg extn guest rept devl mast ownr admn blkd
  GET /deploy_keys                                        401  403  403  403  403  403  403  403  200  401
  POST /deploy_keys                                       401  403  403  403  403  403  403  403  201  401
  GET /projects/:id/deploy_keys                  private  401  404  404  403  403  403  200  200  200  401
                                                 public   401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/deploy_keys/:key_id          private  401  404  404  403  403  403  200  200  200  401
                                                 public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys                 private  401  404  404  403  403  403  201  201  201  401
                                                 public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/deploy_keys/:key_id          private  401  404  404  403  403  403  200  200  200  401
                                                 public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/deploy_keys/:key_id/enable  private  401  404  404  403  403  403  201  201  201  401
                                                 public   401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/deploy_keys/:key_id       private  401  404  404  403  403  403  204  204  204  401
                                                 public   401  403  403  403  403  403  204  204  204  401
`,
  {
    'POST /deploy_keys': { input: newKey },
    'GET /projects/:id/deploy_keys/:key_id': { at: key },
    'POST /projects/:id/deploy_keys': { input: newKey },
    'PUT /projects/:id/deploy_keys/:key_id': { at: key, input: { can_push: true } },
    'POST /projects/:id/deploy_keys/:key_id/enable': { at: key },
    'DELETE /projects/:id/deploy_keys/:key_id': { at: key },
  },
)
