import { statfs } from 'node:fs/promises'
import { z } from 'zod'
import { administratorsFirst, endpoint } from '../../../api/endpoint.ts'
import { entity } from '../../../api/wire.ts'
import { countEverything, measureEverything } from './queries.ts'

const StatisticsEntity = entity({
  forks: z.string(),
  issues: z.string(),
  merge_requests: z.string(),
  notes: z.string(),
  snippets: z.string(),
  ssh_keys: z.string(),
  milestones: z.string(),
  users: z.string(),
  groups: z.string(),
  projects: z.string(),
  active_users: z.string(),
}).meta({ id: 'InstanceStatistics' })

export const get = endpoint({
  method: 'GET',
  path: '/application/statistics',
  summary: 'Get the statistics of the instance',
  ...administratorsFirst,
  output: StatisticsEntity,
  // Numbers as text, as clients expect.
  async handle({ app }) {
    const counts = Object.entries(await countEverything(app.db))
    return Object.fromEntries(counts.map(([name, count]) => [name, String(count)])) as z.infer<typeof StatisticsEntity>
  },
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
  summary: 'Get storage usage and free disk space in bytes',
  ...administratorsFirst,
  output: StorageEntity,
  async handle({ app }) {
    const [sizes, disk] = await Promise.all([measureEverything(app.db), statfs(app.config.data)])
    return { ...sizes, disk_size: disk.blocks * disk.bsize, disk_free: disk.bavail * disk.bsize }
  },
})
