import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { formatDuration } from '../../../lib/time/duration.ts'

export const TimeStatsEntity = entity({
  time_estimate: z.int(),
  total_time_spent: z.int(),
  human_time_estimate: z.string().nullable(),
  human_total_time_spent: z.string().nullable(),
}).meta({ id: 'TimeStats' })

/** Seconds of work. */
export interface TimeStats {
  readonly time_estimate: number
  readonly total_time_spent: number
}

export function presentTimeStats({ time_estimate, total_time_spent }: TimeStats): z.infer<typeof TimeStatsEntity> {
  return {
    time_estimate,
    total_time_spent,
    human_time_estimate: formatDuration(time_estimate),
    human_total_time_spent: formatDuration(total_time_spent),
  }
}
