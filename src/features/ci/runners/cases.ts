import { casesOf, projectPath, type Stage } from '../../../../test/cases.ts'

const input = (s: Stage) => ({ runner_type: 'project_type', project_id: s.project.id })
const own = async (s: Stage) => ({ runner_id: (await s.make('/user/runners', input(s))).id })
/** A runner that also belongs to another project, so that it can be removed from one. */
const foreign = async (s: Stage) => {
  const { id } = await s.newProject()
  return { runner_id: (await s.make('/user/runners', { runner_type: 'project_type', project_id: id })).id }
}
const inTwo = async (s: Stage) => {
  const at = await foreign(s)
  await s.make(projectPath(s, '/runners'), at)
  return at
}

export const cases = casesOf(
  `
                                                            anon strg extn guest rept devl mast ownr admn blkd
  GET /runners                                               401  200  200  200  200  200  200  200  200  401
  GET /runners/all                                           401  403  403  403  403  403  403  403  200  401
  GET /runners/:runner_id                                    401  403  403  403  403  403  200  200  200  401
  PUT /runners/:runner_id                                    401  403  403  403  403  403  200  200  200  401
  DELETE /runners/:runner_id                                 401  403  403  403  403  403  204  204  204  401
  GET /runners/:runner_id/jobs                               401  403  403  403  403  403  200  200  200  401
  GET /runners/:runner_id/managers                           401  403  403  403  403  403  200  200  200  401
  POST /runners/:runner_id/reset_authentication_token        401  403  403  403  403  403  201  201  201  401
  POST /user/runners                                         401  403  403  403  403  403  201  201  201  401
  POST /runners/reset_registration_token                     401  403  403  403  403  403  403  403  201  401
  POST /groups/:id/runners/reset_registration_token  private 401  404  404  403  403  403  403  201  201  401
                                                     public  401  403  403  403  403  403  403  201  201  401
  POST /projects/:id/runners/reset_registration_token private 401 404  404  403  403  403  201  201  201  401
                                                     public  401  403  403  403  403  403  201  201  201  401
  GET /projects/:id/runners                          private 401  404  404  403  403  403  200  200  200  401
                                                     public  401  403  403  403  403  403  200  200  200  401
  GET /groups/:id/runners                            private 401  404  404  403  403  403  403  200  200  401
                                                     public  401  403  403  403  403  403  403  200  200  401
  POST /projects/:id/runners                         private 401  404  404  403  403  403  201  201  201  401
                                                     public  401  403  403  403  403  403  201  201  201  401
  DELETE /projects/:id/runners/:runner_id            private 401  404  404  403  403  403  204  204  204  401
                                                     public  401  403  403  403  403  403  204  204  204  401
`,
  {
    'GET /runners/:runner_id': { at: own },
    'PUT /runners/:runner_id': { at: own, input: { description: 'x' } },
    'DELETE /runners/:runner_id': { at: own },
    'GET /runners/:runner_id/jobs': { at: own },
    'GET /runners/:runner_id/managers': { at: own },
    'POST /runners/:runner_id/reset_authentication_token': { at: own },
    'POST /user/runners': { input: input },
    'POST /projects/:id/runners': { input: foreign },
    'DELETE /projects/:id/runners/:runner_id': { at: inTwo },
  },
)
