import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { countEverything } from './queries.ts'

const StatisticsEntity = entity({
  forks: z.int(),
  issues: z.int(),
  merge_requests: z.int(),
  notes: z.int(),
  snippets: z.int(),
  ssh_keys: z.int(),
  milestones: z.int(),
  users: z.int(),
  groups: z.int(),
  projects: z.int(),
  active_users: z.int(),
}).meta({ id: 'InstanceStatistics' })

export const get = endpoint({
  method: 'GET',
  path: '/application/statistics',
  summary: 'Tell how much there is of everything',
  ...administratorsFirst,
  output: StatisticsEntity,
  handle: ({ app }) => countEverything(app.db),
})
