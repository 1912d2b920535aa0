import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const RUNNER_TYPES = ['instance_type', 'group_type', 'project_type'] as const
export const RUNNER_STATUSES = ['online', 'offline', 'never_contacted', 'stale'] as const
export const RUNNER_ACCESS_LEVELS = ['not_protected', 'ref_protected'] as const

declare module '../../../store/database.ts' {
  interface Tables {
    runners: {
      id: Generated<number>
      runner_type: (typeof RUNNER_TYPES)[number]
      token_digest: string
      token_sealed: string
      token_expires_at: string | null
      description: string | null
      maintenance_note: string | null
      active: boolean
      run_untagged: boolean
      locked: boolean
      access_level: (typeof RUNNER_ACCESS_LEVELS)[number]
      /** Sorted names, as JSON. */
      tags: string
      /** In seconds. */
      maximum_timeout: number | null
      creator_id: number | null
      /** This and the following columns: reported by the manager that asked last. */
      name: string | null
      version_name: string | null
      revision: string | null
      platform: string | null
      architecture: string | null
      ip_address: string | null
      contacted_at: string | null
      created_at: string
      updated_at: string
      version: Generated<number>
    }
    /**
     * Tokens by which runners register for a group or for the instance. The tokens of projects are in the projects' own
     * rows.
     */
    runner_registration_tokens: {
      id: Generated<number>
      group_id: number | null
      token_digest: string
      token_sealed: string
    }
    /** The project with the lowest `place` owns the runner. */
    runner_projects: { runner_id: number; project_id: number; place: Generated<number> }
    runner_groups: { runner_id: number; group_id: number }
    /** One running agent of a runner. */
    runner_managers: {
      id: Generated<number>
      runner_id: number
      system_id: string
      version_name: string | null
      revision: string | null
      platform: string | null
      architecture: string | null
      executor: string | null
      ip_address: string | null
      /** As JSON. */
      features: string | null
      contacted_at: string | null
      created_at: string
    }
  }
}

export type Runner = Row<'runners'>
export type RunnerManager = Row<'runner_managers'>
