/** A job in the format for runners. Runners decode strictly: numbers must be numbers and texts must be texts. */
import { hash } from 'node:crypto'
import type { App, User } from '../../../context.ts'
import { lastCommitOf } from '../../../git/history/history.ts'
import type { Namespace, Project } from '../../projects/projects/queries.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf, type JobOptions } from '../jobs/options.ts'
import { variablesOf, type JobVariable } from '../jobs/variables.ts'
import { pipelineRef } from '../pipelines/create.ts'
import type { Pipeline } from '../pipelines/model.ts'
import type { Runner } from '../runners/model.ts'
import { cachesOf, withLabels } from './caches.ts'
import { definitionOf, FAILURE_REASONS } from './definition.ts'
import type { Dependency } from './dependencies.ts'
import { idTokensOf } from './id-tokens.ts'
import { secretsOf } from './secrets.ts'

export interface Handed {
  readonly job: Job
  readonly project: Project
  readonly namespace: Namespace
  readonly pipeline: Pipeline
  readonly user: User | null
  readonly runner: Runner
  readonly dependencies: readonly Dependency[]
}

export async function presentJob(app: App, handed: Handed): Promise<{ body: object; variables: JobVariable[] }> {
  const { job, project, namespace, pipeline, dependencies } = handed
  const options = optionsOf(job)
  const given = dependencies.map((one) => one.job.id)
  const known = await variablesOf(app, { ...handed, dependencies: given })
  const variables = withLabels([...known, ...(await idTokensOf(app, handed, known))], job.protected)
  const path = pathWithNamespace(project, namespace)
  const token = app.vault.open(job.token_sealed!)
  const values = new Map(variables.map(({ key, value }) => [key, value]))
  const depth = depthOf(values.get('GIT_DEPTH'), project)
  const body = {
    id: job.id,
    token,
    allow_git_fetch: project.build_git_strategy === 'fetch',
    job_info: {
      id: job.id,
      name: job.name,
      stage: job.stage,
      project_id: project.id,
      project_name: project.name,
      project_full_path: path,
      namespace_id: namespace.id,
      pipeline_id: pipeline.id,
      user_id: job.user_id,
      time_in_queue_seconds: secondsBetween(job.queued_at, job.started_at),
      project_jobs_running_on_instance_runners_count: '+Inf',
    },
    git_info: {
      repo_url: values.get('CI_REPOSITORY_URL')!,
      ref: job.ref,
      sha: job.sha,
      before_sha: pipeline.before_sha,
      ref_type: job.tag ? 'tag' : 'branch',
      refspecs: refspecsOf(job, pipeline, depth),
      depth,
      protected: job.protected,
      repo_object_format: 'sha1',
    },
    runner_info: { timeout: job.timeout ?? project.build_timeout, runner_session_url: '' },
    variables,
    ...definitionOf(options, job.timeout),
    cache: await cachesOf(options.cache ?? [], known, {
      isProtected: job.protected,
      keyOf: (key) => keyOf(repositoryDir(app, project), job.sha, key),
    }),
    credentials: [],
    dependencies: dependencies.map(({ job: { id, name }, archive }) => ({
      id,
      name,
      token,
      ...(archive && { artifacts_file: { filename: archive.filename, size: archive.size } }),
    })),
    features: { trace_sections: true, failure_reasons: FAILURE_REASONS, token_mask_prefixes: [] },
    secrets: secretsOf(options, variables),
  }
  return { body, variables }
}

const secondsBetween = (from: string | null, to: string | null) =>
  from === null || to === null ? 0 : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)

function depthOf(givenDepth: string | undefined, project: Project): number {
  const depth =
    givenDepth !== undefined && /^\d{1,9}$/.test(givenDepth) ? Number(givenDepth) : project.ci_default_git_depth
  return depth ?? 0
}

/** The pipeline's own ref exists however branches move. The branch is fetched, too, for scripts that use its name. */
function refspecsOf({ ref, tag }: Job, { id }: Pipeline, depth: number): string[] {
  const own = `+${pipelineRef(id)}:${pipelineRef(id)}`
  if (ref.startsWith('refs/')) return [own]
  if (depth > 0)
    return [own, tag ? `+refs/tags/${ref}:refs/tags/${ref}` : `+refs/heads/${ref}:refs/remotes/origin/${ref}`]
  return [own, '+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
}

type CacheKey = NonNullable<JobOptions['cache']>[number]['key']

/** A cache key from files changes whenever one of the files changes. */
async function keyOf(dir: string, sha: string, key: CacheKey): Promise<string> {
  if (typeof key === 'string') return key
  const ids = await Promise.all(key.files.map((path) => lastCommitOf(dir, sha, path).catch(() => null)))
  const known = ids.filter((id) => id !== null)
  const rest = known.length === 0 ? 'default' : hash('sha1', known.join('-'))
  return key.prefix === null ? rest : `${key.prefix}-${rest}`
}
