import { casesOf, projectPath, unique, type Stage } from '../../../../test/cases.ts'

const newSchedule = { description: 'nightly', ref: 'feature', cron: '0 1 * * *' }
const newVariable = () => ({ key: unique('KEY'), value: 'value' })

/** Stays within the limit of schedules of a project. */
async function schedule(s: Stage) {
  await s.forge.app.db.deleteFrom('pipeline_schedules').execute()
  return { pipeline_schedule_id: (await s.make(projectPath(s, '/pipeline_schedules'), newSchedule)).id as number }
}

async function variable(s: Stage) {
  const { pipeline_schedule_id } = await schedule(s)
  const path = projectPath(s, `/pipeline_schedules/${pipeline_schedule_id}/variables`)
  return { pipeline_schedule_id, key: (await s.make(path, newVariable())).key as string }
}

/** There is no configuration to run. */
export const cases = casesOf(
  `
                                                                            anon strg extn guest rept devl mast ownr admn blkd
  GET /projects/:id/pipeline_schedules                              private  401  404  404  403  200  200  200  200  200  401
                                                                    public   401  403  403  403  200  200  200  200  200  401
  GET /projects/:id/pipeline_schedules/:pipeline_schedule_id        private  401  404  404  403  200  200  200  200  200  401
                                                                    public   401  403  403  403  200  200  200  200  200  401
  GET /projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines private  401  404  404  403  200  200  200  200  200  401
                                                                    public   401  403  403  403  200  200  200  200  200  401
  POST /projects/:id/pipeline_schedules                             private  401  404  404  403  403  201  201  201  201  401
                                                                    public   401  403  403  403  403  201  201  201  201  401
  PUT /projects/:id/pipeline_schedules/:pipeline_schedule_id        private  401  404  404  403  403  403  200  200  200  401
                                                                    public   401  403  403  403  403  403  200  200  200  401
  POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership private  401  404  404  403  403  403  201  201  201  401
                                                                    public   401  403  403  403  403  403  201  201  201  401
  POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/play  private  401  404  404  403  403  400  400  400  400  401
                                                                    public   401  403  403  403  403  400  400  400  400  401
  DELETE /projects/:id/pipeline_schedules/:pipeline_schedule_id     private  401  404  404  403  403  403  204  204  204  401
                                                                    public   401  403  403  403  403  403  204  204  204  401
  POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables private  401  404  404  403  403  403  201  201  201  401
                                                                    public   401  403  403  403  403  403  201  201  201  401
  PUT /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key private  401  404  404  403  403  403  200  200  200  401
                                                                    public   401  403  403  403  403  403  200  200  200  401
  DELETE /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key private  401  404  404  403  403  403  202  202  202  401
                                                                    public   401  403  403  403  403  403  202  202  202  401
`,
  {
    'GET /projects/:id/pipeline_schedules/:pipeline_schedule_id': { at: schedule, scope: 'secret' },
    'GET /projects/:id/pipeline_schedules/:pipeline_schedule_id/pipelines': { at: schedule },
    'POST /projects/:id/pipeline_schedules': { input: newSchedule },
    'PUT /projects/:id/pipeline_schedules/:pipeline_schedule_id': { at: schedule, input: { active: false } },
    'POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/take_ownership': { at: schedule },
    'POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/play': { at: schedule },
    'DELETE /projects/:id/pipeline_schedules/:pipeline_schedule_id': { at: schedule },
    'POST /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables': { at: schedule, input: newVariable },
    'PUT /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key': {
      at: variable,
      input: { value: 'v' },
    },
    'DELETE /projects/:id/pipeline_schedules/:pipeline_schedule_id/variables/:key': { at: variable },
  },
)
