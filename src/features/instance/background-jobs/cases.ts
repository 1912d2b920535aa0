import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                                anon strg admn blkd
  GET /sidekiq/queue_metrics     401  403  200  401
  GET /sidekiq/process_metrics   401  403  200  401
  GET /sidekiq/job_stats         401  403  200  401
  GET /sidekiq/compound_metrics  401  403  200  401
`,
)
