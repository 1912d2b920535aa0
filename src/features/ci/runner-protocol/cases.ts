import { casesOf, type Stage } from '../../../../test/cases.ts'
import { weakMemo } from '../../../lib/async/weak-memo.ts'
import { resetRegistrationToken } from '../runners/registration.ts'

/**
 * A caller with the token of a runner is that runner, whatever other credentials it sends. A caller without the token
 * is rejected.
 */
const registering = async (s: Stage) => ({ token: await resetRegistrationToken(s.forge.app, null) })
/** A runner of a project without jobs. */
const made = async (s: Stage) => {
  const input = { runner_type: 'project_type', project_id: (await s.newProject()).id }
  return { token: (await s.make('/user/runners', input)).token as string }
}
const nothing = () => ({ job_id: 999_999 })

/** A job that a runner has. No report ends it. */
const running = weakMemo(async (s: Stage) => {
  const { id: project_id } = await s.newProject()
  const file = { action: 'create', file_path: '.gitlab-ci.yml', content: 'a:\n  script: sleep 9\n' }
  const commit = { branch: 'master', commit_message: 'Run it', actions: [file] }
  await s.make(`/projects/${project_id}/repository/commits`, commit)
  const { token } = await s.make('/user/runners', { runner_type: 'project_type', project_id })
  const job = await s.make('/jobs/request', { token, info: {} })
  return { id: job.id as number, token: job.token as string }
})
const at = async (s: Stage) => ({ job_id: (await running(s)).id })
const shown = async (s: Stage) => ({ token: (await running(s)).token })

export const cases = casesOf(
  `
                                            anon strg extn guest rept devl mast ownr admn blkd
  POST /runners                              201  201  201  201  201  201  201  201  201  201
  POST /runners/verify                       200  200  200  200  200  200  200  200  200  200
  DELETE /runners                            204  204  204  204  204  204  204  204  204  204
  DELETE /runners/managers                   404  404  404  404  404  404  404  404  404  404
  POST /runners/reset_authentication_token   201  201  201  201  201  201  201  201  201  201
  POST /jobs/request                         204  204  204  204  204  204  204  204  204  204
  PUT /jobs/:job_id                          200  200  200  200  200  200  200  200  200  200
  PUT /jobs/:job_id (unknown)                403  403  403  403  403  403  403  403  403  403
  PATCH /jobs/:job_id/trace                  403  403  403  403  403  403  403  403  403  403
  POST /jobs/:job_id/artifacts               403  403  403  403  403  403  403  403  403  403
  POST /jobs/:job_id/artifacts/authorize     200  200  200  200  200  200  200  200  200  200
  GET /jobs/:job_id/artifacts                404  404  404  404  404  404  404  404  404  404
  GET /jobs/:job_id/artifacts (wrong)        403  403  403  403  403  403  403  403  403  403
`,
  {
    'POST /runners': { input: registering, scope: 'any' },
    'POST /runners/verify': { input: made, scope: 'any' },
    'DELETE /runners': { input: made, scope: 'any' },
    'DELETE /runners/managers': { input: async (s) => ({ ...(await made(s)), system_id: 'x' }), scope: 'any' },
    'POST /runners/reset_authentication_token': { input: made, scope: 'any' },
    'POST /jobs/request': { input: made, scope: 'any' },
    'PUT /jobs/:job_id': { at, input: async (s) => ({ ...(await shown(s)), state: 'running' }), scope: 'any' },
    'PUT /jobs/:job_id (unknown)': { at: nothing, input: shown },
    'PATCH /jobs/:job_id/trace': { at: nothing, scope: 'any' },
    'POST /jobs/:job_id/artifacts': { at: nothing, scope: 'any' },
    'POST /jobs/:job_id/artifacts/authorize': { at, input: shown, scope: 'any' },
    'GET /jobs/:job_id/artifacts': { at, input: shown, scope: 'any' },
    'GET /jobs/:job_id/artifacts (wrong)': { at, input: { token: 'wrong' } },
  },
)
