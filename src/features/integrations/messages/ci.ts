/** Functions that messages of pipelines and jobs share. */
import type { App } from '../../../context.ts'
import { findCommit, type Commit } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { optionsOf } from '../../ci/jobs/options.ts'
import type { Job } from '../../ci/jobs/model.ts'
import { secondsBetween } from '../../ci/pipelines/entity.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import type { Runner } from '../../ci/runners/model.ts'
import type { UserState } from '../../identity/users/model.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'

const SHUT_OUT: readonly UserState[] = ['blocked', 'ldap_blocked', 'banned', 'blocked_pending_approval']

/** No message is sent of what blocked users run. */
export async function blockedAmong({ db }: App, ids: readonly (number | null)[]): Promise<Set<number | null>> {
  const known = [...new Set(ids)].filter((id) => id !== null)
  if (known.length === 0) return new Set()
  const found = await db
    .selectFrom('users')
    .select('id')
    .where(inIdList(db, 'id', idList(db, known)))
    .where('state', 'in', [...SHUT_OUT])
    .execute()
  return new Set(found.map(({ id }) => id))
}

export const hookRunner = (runner: Runner | undefined) =>
  runner
    ? {
        id: runner.id,
        description: runner.description,
        active: runner.active,
        is_shared: runner.runner_type === 'instance_type',
        runner_type: runner.runner_type,
        tags: JSON.parse(runner.tags) as string[],
      }
    : null

export const hookEnvironment = (environment: Row<'environments'> | undefined, { options }: Pick<Job, 'options'>) =>
  environment
    ? {
        name: environment.name,
        action: optionsOf({ options }).environment?.action ?? 'start',
        deployment_tier: environment.tier,
      }
    : null

type Timed = Pick<Job, 'status' | 'queued_at' | 'started_at' | 'finished_at'>

/** Seconds until the end, or until now. */
export const durationOf = ({ started_at, finished_at }: Timed, now: string) =>
  secondsBetween(started_at, finished_at ?? now)

export const queuedFor = ({ status, queued_at, started_at }: Timed, now: string) =>
  secondsBetween(queued_at, started_at ?? (status === 'pending' ? now : null))

export const failureOf = ({ status, failure_reason }: Pick<Job, 'status' | 'failure_reason'>) =>
  status === 'failed' ? (failure_reason ?? 'unknown_failure') : null

/** The job of another pipeline that started this one. Empty if none did. */
export async function sourcePipeline({ db, url }: App, { bridge_id }: Pipeline) {
  if (bridge_id === null) return {}
  const bridge = await db
    .selectFrom('ci_jobs')
    .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['ci_jobs.id', 'ci_jobs.pipeline_id', 'ci_jobs.project_id', 'projects.path', 'namespaces.full_path'])
    .where('ci_jobs.id', '=', bridge_id)
    .executeTakeFirst()
  if (!bridge) return {}
  const path_with_namespace = `${bridge.full_path}/${bridge.path}`
  return {
    source_pipeline: {
      project: { id: bridge.project_id, web_url: `${url}/${path_with_namespace}`, path_with_namespace },
      job_id: bridge.id,
      pipeline_id: bridge.pipeline_id,
    },
  }
}

/** Null if the project or the commit no longer exists. */
export async function commitIn(app: App, project_id: number | null, sha: string): Promise<Commit | null> {
  const project = project_id === null ? null : await findProjectById(app.db, project_id)
  if (!project) return null
  const dir = repositoryDir(app, project)
  return (await repositoryExists(dir)) ? findCommit(dir, sha) : null
}
