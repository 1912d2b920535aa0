/** What a job's configuration says about its failures. Pure. */
import type { JobOptions } from './options.ts'

export interface Failure {
  readonly reason: string
  readonly exit_code?: number | null
  /** Its runner has run nothing of it, and says that another try may do. */
  readonly isGivenBack?: boolean
}

const TRIES_OF_GIVEN_BACK = 2

/** By one of the exit codes that it may end with; whether all failures are allowed stands on the job. */
export const isAllowedExit = ({ allow_failure }: Partial<JobOptions>, code: number | null): boolean =>
  typeof allow_failure === 'object' && code !== null && allow_failure.exit_codes.includes(code)

/** How often it is tried again, in all. */
export const mostRetries = (retry: JobOptions['retry'] | undefined, failure: Failure): number =>
  Math.max(failure.isGivenBack ? TRIES_OF_GIVEN_BACK : 0, retry && isRetried(retry, failure) ? retry.max : 0)

const isRetried = (retry: NonNullable<JobOptions['retry']>, { reason, exit_code = null }: Failure): boolean =>
  retry.when.includes('always') ||
  retry.when.includes(reason) ||
  (exit_code !== null && (retry.exit_codes ?? []).includes(exit_code))
