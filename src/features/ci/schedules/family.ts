import { family } from '../../family.ts'
import { runScheduled, sweepSchedules } from './jobs.ts'
import * as routes from './routes.ts'
import { dropScheduleVariables } from './secrets.ts'

export const pipelineSchedules = family({
  routes,
  jobs: [runScheduled, sweepSchedules],
  secretReset: dropScheduleVariables,
})
