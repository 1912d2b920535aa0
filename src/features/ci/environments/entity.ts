import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { UserSummaryEntity, presentUserSummary, type Surroundings } from '../../identity/users/entity.ts'
import { SimpleProjectEntity, type SimpleProjectRecord } from '../../projects/projects/entity.ts'
import { JobEntity, type JobRecord } from '../jobs/entity.ts'
import { DEPLOYMENT_STATUSES, STATES, TIERS, type Deployment, type Environment } from './model.ts'

const brief = { id: z.int(), name: z.string(), slug: z.string(), external_url: z.string().nullable() }

export const BriefEnvironmentEntity = entity(brief).meta({ id: 'BriefEnvironment' })

export const DeploymentEntity = entity({
  id: z.int(),
  iid: z.int(),
  ref: z.string(),
  sha: z.string(),
  created_at: timestampOut,
  updated_at: timestampOut,
  finished_at: timestampOut.nullable(),
  status: z.enum(DEPLOYMENT_STATUSES),
  user: UserSummaryEntity.nullable(),
  environment: BriefEnvironmentEntity,
  deployable: JobEntity.nullable(),
}).meta({ id: 'Deployment' })

const listed = {
  ...brief,
  state: z.enum(STATES),
  tier: z.enum(TIERS),
  description: z.string().nullable(),
  created_at: timestampOut,
  updated_at: timestampOut,
  auto_stop_at: timestampOut.nullable(),
  project: SimpleProjectEntity,
}

export const ListedEnvironmentEntity = entity(listed).meta({ id: 'ListedEnvironment' })
export const EnvironmentEntity = entity({ ...listed, last_deployment: DeploymentEntity.nullable() }).meta({
  id: 'Environment',
})

export type DeploymentRecord = z.infer<typeof DeploymentEntity>

export const presentBrief = ({
  id,
  name,
  slug,
  external_url,
}: Environment): z.infer<typeof BriefEnvironmentEntity> => ({
  id,
  name,
  slug,
  external_url,
})

export function presentListedEnvironment(
  environment: Environment,
  project: SimpleProjectRecord,
): z.infer<typeof ListedEnvironmentEntity> {
  return {
    ...presentBrief(environment),
    state: environment.state,
    tier: environment.tier,
    description: environment.description,
    created_at: environment.created_at,
    updated_at: environment.updated_at,
    auto_stop_at: environment.auto_stop_at,
    project,
  }
}

export interface LoadedDeployment extends Deployment {
  readonly user: User | null
  readonly environment: Environment
  readonly deployable: JobRecord | null
}

export function presentDeployment(deployment: LoadedDeployment, around: Surroundings): DeploymentRecord {
  return {
    id: deployment.id,
    iid: deployment.iid,
    ref: deployment.ref,
    sha: deployment.sha,
    created_at: deployment.created_at,
    updated_at: deployment.updated_at,
    finished_at: deployment.finished_at,
    status: deployment.status,
    user: deployment.user && presentUserSummary(deployment.user, around),
    environment: presentBrief(deployment.environment),
    deployable: deployment.deployable,
  }
}
