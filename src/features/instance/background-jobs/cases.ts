import { casesOf, type Stage } from '../../../../test/cases.ts'
import { after } from '../../../clock.ts'

const dead = async ({ forge: { app } }: Stage) => {
  const now = after(app.clock, 0)
  const { id } = await app.db
    .insertInto('jobs')
    .values({ name: 'some work', payload: '{}', state: 'dead', attempts: 1, run_at: now, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow()
  return { job_id: id }
}

export const cases = casesOf(
  `
                                            anon strg admn blkd
  GET /sidekiq/queue_metrics                 401  403  200  401
  GET /sidekiq/process_metrics               401  403  200  401
  GET /sidekiq/job_stats                     401  403  200  401
  GET /sidekiq/compound_metrics              401  403  200  401
  GET /background_jobs/dead                  401  403  200  401
  POST /background_jobs/dead/:job_id/retry   401  403  202  401
  DELETE /background_jobs/dead/:job_id       401  403  204  401
`,
  {
    'POST /background_jobs/dead/:job_id/retry': { at: dead },
    'DELETE /background_jobs/dead/:job_id': { at: dead },
  },
)
