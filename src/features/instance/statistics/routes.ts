import { statfs } from 'node:fs/promises'
import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { countEverything, measureEverything } from './queries.ts'

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

const StorageEntity = entity({
  repository_size: z.int(),
  lfs_objects_size: z.int(),
  job_artifacts_size: z.int(),
  database_size: z.int(),
  disk_size: z.int(),
  disk_free: z.int(),
}).meta({ id: 'InstanceStorage' })

export const storage = endpoint({
  method: 'GET',
  path: '/application/storage',
  summary: 'Tell what is stored, and how much room is left, in bytes',
  ...administratorsFirst,
  output: StorageEntity,
  async handle({ app }) {
    const [sizes, disk] = await Promise.all([measureEverything(app.db), statfs(app.config.data)])
    return { ...sizes, disk_size: disk.blocks * disk.bsize, disk_free: disk.bavail * disk.bsize }
  },
})
