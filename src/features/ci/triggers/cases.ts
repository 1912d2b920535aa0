import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'

const newTrigger = { description: 'a robot' }
const made = (s: Stage) => s.make(projectPath(s, '/triggers'), newTrigger)
const trigger = async (s: Stage) => ({ trigger_id: (await made(s)).id })

/** Nothing is there to run, so the token alone lets its bearer come to hear it. */
const start = async (s: Stage) => ({ token: (await made(s)).token, ref: 'nowhere' })
const startOnRef = async (s: Stage) => ({ token: (await made(s)).token })

export const cases = casesOf(
  `
                                                          anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/triggers                     private   401  404  404  403  403  403  200  200  200  401
                                                 public    401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/triggers/:trigger_id         private   401  404  404  403  403  403  200  200  200  401
                                                 public    401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/triggers                    private   401  404  404  403  403  403  201  201  201  401
                                                 public    401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/triggers/:trigger_id         private   401  404  404  403  403  403  200  200  200  401
                                                 public    401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/triggers/:trigger_id/take_ownership private 401 404 404 403 403 403 200 200 200 401
                                                 public    401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/triggers/:trigger_id      private   401  404  404  403  403  403  204  204  204  401
                                                 public    401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/trigger/pipeline            private   400  400  400  400  400  400  400  400  400  401
                                                 public    400  400  400  400  400  400  400  400  400  401
  POST /projects/:id/ref/:ref/trigger/pipeline   private   400  400  400  400  400  400  400  400  400  401
                                                 public    400  400  400  400  400  400  400  400  400  401
`,
  {
    'GET /projects/:id/triggers': { scope: 'secret' },
    'GET /projects/:id/triggers/:trigger_id': { at: trigger, scope: 'secret' },
    'POST /projects/:id/triggers': { input: newTrigger },
    'PUT /projects/:id/triggers/:trigger_id': { at: trigger, input: { description: 'another' } },
    'POST /projects/:id/triggers/:trigger_id/take_ownership': { at: trigger },
    'DELETE /projects/:id/triggers/:trigger_id': { at: trigger },
    'POST /projects/:id/trigger/pipeline': { input: start },
    'POST /projects/:id/ref/:ref/trigger/pipeline': { at: () => ({ ref: 'nowhere' }), input: startOnRef },
  },
)
