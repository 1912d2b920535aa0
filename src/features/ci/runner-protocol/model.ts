import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** Facts about a job that exist only while a runner has it. */
    ci_runs: {
      job_id: number
      /** Values that the log must not show, as encrypted JSON. */
      masks_sealed: string
      /** Checksum of the log before masking. */
      trace_crc: Generated<number>
      /** How often the runner had to send the log again. */
      trace_resets: Generated<number>
      /** When the timeout ends. */
      deadline_at: string | null
      /** The project of the job, if a shared runner has the job. */
      shared_project_id: number | null
      /** The process that delivers the job, until the answer is sent or the runner has reported. */
      holder: Generated<string | null>
    }
    /** Variables that jobs pass to later jobs. */
    ci_job_variables: { id: Generated<number>; job_id: number; key: string; value_sealed: string }
  }
}
