/** Reads how a job's configuration handles failures. Pure. */
import type { JobOptions } from './options.ts'

export interface Failure {
  readonly reason: string
  readonly exit_code?: number | null
  /** The runner ran nothing of the job, and reports that a retry may succeed. */
  readonly isGivenBack?: boolean
}

const TRIES_OF_GIVEN_BACK = 2

/** Whether the exit code is one of the allowed ones. The row of the job says whether all failures are allowed. */
export const isAllowedExit = ({ allow_failure }: Partial<JobOptions>, code: number | null): boolean =>
  typeof allow_failure === 'object' && code !== null && allow_failure.exit_codes.includes(code)

/** The maximum number of retries in total. */
export const mostRetries = (retry: JobOptions['retry'] | undefined, failure: Failure): number =>
  Math.max(failure.isGivenBack ? TRIES_OF_GIVEN_BACK : 0, retry && isRetried(retry, failure) ? retry.max : 0)

const isRetried = (retry: NonNullable<JobOptions['retry']>, { reason, exit_code = null }: Failure): boolean =>
  retry.when.includes('always') ||
  retry.when.includes(reason) ||
  (exit_code !== null && (retry.exit_codes ?? []).includes(exit_code))
