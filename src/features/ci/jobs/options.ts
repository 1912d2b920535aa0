/** The rest of a job's configuration, as its row stores it. */
import type { PlannedJob } from '../../../ci/config/plan.ts'
import type { Job } from './model.ts'

/** Omits fields that have their own column. The variables are those of the whole file, overridden by the job's own. */
export type JobOptions = Omit<PlannedJob, 'name' | 'stage' | 'stage_index' | 'when' | 'tags'> & {
  /** The variables that a user gave when starting the job by hand, encrypted. */
  readonly played_with?: string
}

/** Statuses that tools report have no options. */
export const optionsOf = ({ options }: Pick<Job, 'options'>): Partial<JobOptions> =>
  options === null ? {} : (JSON.parse(options) as JobOptions)

export const needsOf = ({ needs }: Pick<Job, 'needs'>): string[] | null =>
  needs === null ? null : (JSON.parse(needs) as string[])

export const tagsOf = ({ tags }: Pick<Job, 'tags'>): string[] => JSON.parse(tags) as string[]
