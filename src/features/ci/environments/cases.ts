import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const named = () => ({ name: unique('place') })
const made = (s: Stage) => s.make(projectPath(s, '/environments'), named())
const environment = async (s: Stage) => ({ environment_id: (await made(s)).id as number })

async function stopped(s: Stage) {
  const { id } = await made(s)
  const answer = await s.owner.post(projectPath(s, `/environments/${id}/stop`))
  return { environment_id: answer.body.id as number }
}

async function reported(s: Stage) {
  const { body } = await s.owner.get(projectPath(s, '/repository/branches/master'))
  await s.owner.post(projectPath(s, '/repository/branches'), { branch: 'work', ref: 'master' })
  return { environment: unique('place'), sha: body.commit.id as string, ref: 'work', tag: false, status: 'running' }
}

const deployment = async (s: Stage, status = 'running') => ({
  deployment_id: (await s.make(projectPath(s, '/deployments'), { ...(await reported(s)), status })).id as number,
})

const long = { before: '2020-01-01T00:00:00Z' }

export const cases = casesOf(
  `
                                                                anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/environments                       private   401  404  404  403  200  200  200  200  200  401
                                                       public    401  403  403  403  200  200  200  200  200  401
  GET /projects/:id/environments/:environment_id       private   401  404  404  403  200  200  200  200  200  401
                                                       public    401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/environments                      private   401  404  404  403  403  201  201  201  201  401
                                                       public    401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/environments/:environment_id       private   401  404  404  403  403  403  200  200  200  401
                                                       public    401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/environments/:environment_id/stop private   401  404  404  403  403  200  200  200  200  401
                                                       public    401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/environments/:environment_id    private   401  404  404  403  403  403  204  204  204  401
                                                       public    401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/environments/stop_stale           private   401  404  404  403  403  403  200  200  200  401
                                                       public    401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/environments/review_apps        private   401  404  404  403  403  403  200  200  200  401
                                                       public    401  403  403  403  403  403  200  200  200  401
  GET /projects/:id/deployments                        private   401  404  404  403  200  200  200  200  200  401
                                                       public    401  403  403  403  200  200  200  200  200  401
  GET /projects/:id/deployments/:deployment_id         private   401  404  404  403  200  200  200  200  200  401
                                                       public    401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/deployments                       private   401  404  404  403  403  201  201  201  201  401
                                                       public    401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/deployments/:deployment_id         private   401  404  404  403  403  200  200  200  200  401
                                                       public    401  403  403  403  403  200  200  200  200  401
  DELETE /projects/:id/deployments/:deployment_id      private   401  404  404  403  403  403  204  204  204  401
                                                       public    401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /projects/:id/environments/:environment_id': { at: environment },
    'POST /projects/:id/environments': { input: named },
    'PUT /projects/:id/environments/:environment_id': { at: environment, input: { tier: 'staging' } },
    'POST /projects/:id/environments/:environment_id/stop': { at: environment, input: { force: false } },
    'DELETE /projects/:id/environments/:environment_id': { at: stopped },
    'POST /projects/:id/environments/stop_stale': { input: long },
    'DELETE /projects/:id/environments/review_apps': { input: long },
    'GET /projects/:id/deployments/:deployment_id': { at: (s) => deployment(s) },
    'POST /projects/:id/deployments': { input: reported },
    'PUT /projects/:id/deployments/:deployment_id': { at: (s) => deployment(s), input: { status: 'success' } },
    'DELETE /projects/:id/deployments/:deployment_id': { at: (s) => deployment(s, 'failed') },
  },
)
