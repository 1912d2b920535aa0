/** The rest of what a job's configuration says, as it stands in its row. */
import type { PlannedJob } from '../../../ci/config/plan.ts'
import type { Job } from './model.ts'

/** What has a column of its own is left out; variables are those of the whole file with its own over them. */
export type JobOptions = Omit<PlannedJob, 'name' | 'stage' | 'stage_index' | 'when' | 'tags'> & {
  /** Sealed: what whoever started it by hand gave it. */
  readonly played_with?: string
}

/** Of what tools report there are none. */
export const optionsOf = ({ options }: Pick<Job, 'options'>): Partial<JobOptions> =>
  options === null ? {} : (JSON.parse(options) as JobOptions)

export const needsOf = ({ needs }: Pick<Job, 'needs'>): string[] | null =>
  needs === null ? null : (JSON.parse(needs) as string[])

export const tagsOf = ({ tags }: Pick<Job, 'tags'>): string[] => JSON.parse(tags) as string[]
