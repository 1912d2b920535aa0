import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    /** What is known of a job only while a runner has it. */
    ci_runs: {
      job_id: number
      /** Values that must not be seen in its log, as JSON. */
      masks_sealed: string
      /** Of the log as it came. */
      trace_crc: Generated<number>
      /** How often the log was sent anew. */
      trace_resets: Generated<number>
      /** When its time is over. */
      deadline_at: string | null
      /** Whose it is, where a shared runner has it. */
      shared_project_id: number | null
      /** The process that hands it over, until its answer is out or its runner was heard of. */
      holder: Generated<string | null>
    }
    /** What jobs hand to those after them. */
    ci_job_variables: { id: Generated<number>; job_id: number; key: string; value_sealed: string }
  }
}
