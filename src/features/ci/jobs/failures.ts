/** What a job's configuration says about its failures. Pure. */
import type { JobOptions } from './options.ts'

export interface Failure {
  readonly reason: string
  readonly exit_code?: number | null
}

/** By one of the exit codes that it may end with; whether all failures are allowed stands on the job. */
export const isAllowedExit = ({ allow_failure }: Partial<JobOptions>, code: number | null): boolean =>
  typeof allow_failure === 'object' && code !== null && allow_failure.exit_codes.includes(code)

/** However often that was done before. */
export const isRetried = (retry: NonNullable<JobOptions['retry']>, { reason, exit_code = null }: Failure): boolean =>
  retry.when.includes('always') ||
  retry.when.includes(reason) ||
  (exit_code !== null && (retry.exit_codes ?? []).includes(exit_code))
