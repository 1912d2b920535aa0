import { casesOf } from '../../../../test/cases.ts'

export const cases = casesOf(
  `
                               anon strg admn blkd
  GET /application/plan_limits  401  403  200  401
  PUT /application/plan_limits  401  403  200  401
`,
  { 'PUT /application/plan_limits': { input: { plan_name: 'default', ci_pipeline_size: 7 } } },
)
