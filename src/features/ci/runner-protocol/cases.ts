import { casesOf, type Stage } from '../../../../test/cases.ts'
import { resetRegistrationToken } from '../runners/registration.ts'

/** Whoever shows the token of a runner is one, whatever else they show; whoever does not is nobody. */
const registering = async (s: Stage) => ({ token: await resetRegistrationToken(s.forge.app, null) })
/** Of a project without jobs. */
const made = async (s: Stage) => {
  const wish = { runner_type: 'project_type', project_id: (await s.newProject()).id }
  return { token: (await s.make('/user/runners', wish)).token as string }
}
const nothing = () => ({ job_id: 999_999 })
const wrong = { token: 'wrong' }

export const cases = casesOf(
  `
                                            anon strg extn guest rept devl mast ownr admn blkd
  POST /runners                              201  201  201  201  201  201  201  201  201  201
  POST /runners/verify                       200  200  200  200  200  200  200  200  200  200
  DELETE /runners                            204  204  204  204  204  204  204  204  204  204
  DELETE /runners/managers                   404  404  404  404  404  404  404  404  404  404
  POST /runners/reset_authentication_token   201  201  201  201  201  201  201  201  201  201
  POST /jobs/request                         204  204  204  204  204  204  204  204  204  204
  PUT /jobs/:job_id                          403  403  403  403  403  403  403  403  403  403
  PATCH /jobs/:job_id/trace                  403  403  403  403  403  403  403  403  403  403
  POST /jobs/:job_id/artifacts               403  403  403  403  403  403  403  403  403  403
  POST /jobs/:job_id/artifacts/authorize     403  403  403  403  403  403  403  403  403  403
  GET /jobs/:job_id/artifacts                403  403  403  403  403  403  403  403  403  403
`,
  {
    'POST /runners': { input: registering, scope: 'any' },
    'POST /runners/verify': { input: made, scope: 'any' },
    'DELETE /runners': { input: made, scope: 'any' },
    'DELETE /runners/managers': { input: async (s) => ({ ...(await made(s)), system_id: 'x' }), scope: 'any' },
    'POST /runners/reset_authentication_token': { input: made, scope: 'any' },
    'POST /jobs/request': { input: made, scope: 'any' },
    'PUT /jobs/:job_id': { at: nothing, input: wrong, scope: 'any' },
    'PATCH /jobs/:job_id/trace': { at: nothing, scope: 'any' },
    'POST /jobs/:job_id/artifacts': { at: nothing, scope: 'any' },
    'POST /jobs/:job_id/artifacts/authorize': { at: nothing, input: wrong, scope: 'any' },
    'GET /jobs/:job_id/artifacts': { at: nothing, input: wrong, scope: 'any' },
  },
)
