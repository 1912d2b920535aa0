import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'
import { pipelineOn } from '../../../../test/pipelines.ts'

const newTrigger = { description: 'a robot' }
const made = (s: Stage) => s.make(projectPath(s, '/triggers'), newTrigger)
const trigger = async (s: Stage) => ({ trigger_id: (await made(s)).id })

const known = new WeakMap<Stage, Promise<{ token: string; ref: string }>>()

/** One trigger for all callers: its token is all they need. */
function start(s: Stage) {
  const begun = known.get(s) ?? begin(s)
  known.set(s, begun)
  return begun
}

async function begin(s: Stage) {
  const { ref } = await pipelineOn(s)
  return { token: (await made(s)).token as string, ref }
}

const onRef = async (s: Stage) => ({ ref: (await start(s)).ref })
const startOnRef = async (s: Stage) => ({ token: (await start(s)).token })

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
  POST /projects/:id/trigger/pipeline            private   201  201  201  201  201  201  201  201  201  401
                                                 public    201  201  201  201  201  201  201  201  201  401
  POST /projects/:id/ref/:ref/trigger/pipeline   private   201  201  201  201  201  201  201  201  201  401
                                                 public    201  201  201  201  201  201  201  201  201  401
`,
  {
    'GET /projects/:id/triggers': { scope: 'secret' },
    'GET /projects/:id/triggers/:trigger_id': { at: trigger, scope: 'secret' },
    'POST /projects/:id/triggers': { input: newTrigger },
    'PUT /projects/:id/triggers/:trigger_id': { at: trigger, input: { description: 'another' } },
    'POST /projects/:id/triggers/:trigger_id/take_ownership': { at: trigger },
    'DELETE /projects/:id/triggers/:trigger_id': { at: trigger },
    'POST /projects/:id/trigger/pipeline': { input: start },
    'POST /projects/:id/ref/:ref/trigger/pipeline': { at: onRef, input: startOnRef },
  },
)
