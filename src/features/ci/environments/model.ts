import type { Generated } from 'kysely'
import type { Row } from '../../../store/database.ts'

export const STATES = ['available', 'stopping', 'stopped'] as const

export const TIERS = ['production', 'staging', 'testing', 'development', 'other'] as const
export const DEPLOYMENT_STATUSES = [
  'created',
  'running',
  'success',
  'failed',
  'canceled',
  'blocked',
  'skipped',
] as const

declare module '../../../store/database.ts' {
  interface Tables {
    environments: {
      id: Generated<number>
      project_id: number
      name: string
      slug: string
      external_url: string | null
      description: string | null
      state: (typeof STATES)[number]
      tier: (typeof TIERS)[number]
      auto_stop_at: string | null
      created_at: string
      updated_at: string
    }
    deployments: {
      id: Generated<number>
      project_id: number
      iid: number
      environment_id: number
      job_id: number | null
      user_id: number | null
      ref: string
      tag: boolean
      sha: string
      status: (typeof DEPLOYMENT_STATUSES)[number]
      /** The name of the job that stops the environment. */
      on_stop: string | null
      finished_at: string | null
      /** Whether the merge requests of this deployment are already linked. */
      linked: Generated<boolean>
      created_at: string
      updated_at: string
    }
  }
  interface Events {
    /** A deployment was created, or its status changed. */
    'deployment.changed': { id: number; project_id: number; status: Deployment['status'] }
  }
}

export type Environment = Row<'environments'>
export type Deployment = Row<'deployments'>
export type Tier = (typeof TIERS)[number]
