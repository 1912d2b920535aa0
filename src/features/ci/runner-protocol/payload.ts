/** A job as runners are given it. Their decoders are strict: numbers are numbers, texts are texts. */
import { hash } from 'node:crypto'
import type { App } from '../../../context.ts'
import { lastCommitOf } from '../../../git/history/history.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { findNamespaceById, pathWithNamespace } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/projects/repository.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf, type JobOptions } from '../jobs/options.ts'
import { variablesOf, type JobVariable } from '../jobs/variables.ts'
import { pipelineRef } from '../pipelines/create.ts'
import type { Pipeline } from '../pipelines/model.ts'
import type { Runner } from '../runners/model.ts'
import type { Dependency } from './dependencies.ts'
import { idTokensOf } from './id-tokens.ts'
import { secretsOf } from './secrets.ts'

export interface Handed {
  readonly job: Job
  readonly project: Project
  readonly pipeline: Pipeline
  readonly runner: Runner
  readonly dependencies: readonly Dependency[]
}

type Options = Partial<JobOptions>

const AFTER_SCRIPT_SECONDS = 300
const FAILURE_REASONS = [
  'unknown_failure',
  'script_failure',
  'runner_system_failure',
  'job_execution_timeout',
  'image_pull_failure',
  'runner_configuration_error',
  'runner_external_dependency_failure',
  'runner_interrupted',
]

export async function presentJob(app: App, handed: Handed): Promise<{ body: object; variables: JobVariable[] }> {
  const { job, project, pipeline, runner, dependencies } = handed
  const options = optionsOf(job)
  const given = dependencies.map((one) => one.job.id)
  const known = await variablesOf(app, { job, project, pipeline, runner, dependencies: given })
  const variables = [...known, ...(await idTokensOf(app, handed, known))]
  const namespace = (await findNamespaceById(app.db, project.namespace_id))!
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
    steps: stepsOf(job, options),
    image: options.image ? imageOf(options.image) : null,
    services: (options.services ?? []).map((service) => ({
      ...imageOf(service),
      alias: service.alias,
      command: service.command,
      variables: service.variables.map(({ key, value, expand }) => ({
        key,
        value,
        public: true,
        file: false,
        masked: false,
        raw: !expand,
      })),
    })),
    artifacts: artifactsOf(options),
    cache: await cachesOf(app, project, job, options),
    credentials: [],
    dependencies: dependencies.map(({ job: { id, name }, archive }) => ({
      id,
      name,
      token,
      ...(archive && { artifacts_file: { filename: archive.filename, size: archive.size } }),
    })),
    features: { trace_sections: true, failure_reasons: FAILURE_REASONS, token_mask_prefixes: [] },
    hooks: options.hooks ? [{ name: 'pre_get_sources_script', script: options.hooks.pre_get_sources_script }] : [],
    secrets: secretsOf(options, variables),
    ...(options.run && { run: JSON.stringify(options.run) }),
  }
  return { body, variables }
}

const secondsBetween = (from: string | null, to: string | null) =>
  from === null || to === null ? 0 : Math.max(0, (Date.parse(to) - Date.parse(from)) / 1000)

function depthOf(wanted: string | undefined, project: Project): number {
  const depth = wanted !== undefined && /^\d{1,9}$/.test(wanted) ? Number(wanted) : project.ci_default_git_depth
  return depth ?? 0
}

/** The pipeline's own ref is there however branches move; the branch is fetched for those who look at its name. */
function refspecsOf({ ref, tag }: Job, { id }: Pipeline, depth: number): string[] {
  const own = `+${pipelineRef(id)}:${pipelineRef(id)}`
  if (ref.startsWith('refs/')) return [own]
  if (depth > 0)
    return [own, tag ? `+refs/tags/${ref}:refs/tags/${ref}` : `+refs/heads/${ref}:refs/remotes/origin/${ref}`]
  return [own, '+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*']
}

function stepsOf(job: Job, { before_script = [], script = [], after_script = [], release }: Options) {
  const timeout = job.timeout ?? 0
  const step = (name: string, lines: readonly string[], more = {}) => ({
    name,
    script: lines,
    timeout,
    when: 'on_success',
    allow_failure: false,
    ...more,
  })
  return [
    step('script', [...before_script, ...script]),
    ...(release ? [step('release', [releaseCommand(release)])] : []),
    ...(after_script.length > 0
      ? [step('after_script', after_script, { when: 'always', allow_failure: true, timeout: AFTER_SCRIPT_SECONDS })]
      : []),
  ]
}

/** Variables in it are the shell's to replace. */
const quoted = (text: string) => `"${text.replaceAll(/[\\"`]/g, '\\$&')}"`

function releaseCommand(release: NonNullable<JobOptions['release']>): string {
  const { tag_name, description, tag_message, name, ref, milestones, released_at, links } = release
  const flags: readonly (readonly [string, string | null])[] = [
    ['--name', name],
    ['--description', description],
    ['--tag-name', tag_name],
    ['--tag-message', tag_message],
    ['--ref', ref ?? '$CI_COMMIT_SHA'],
    ['--released-at', released_at],
    ...milestones.map((milestone) => ['--milestone', milestone] as const),
    ...links.map(
      ({ name, url, filepath, link_type }) =>
        [
          '--assets-link',
          JSON.stringify({ name, url, ...(filepath && { filepath }), ...(link_type && { link_type }) }),
        ] as const,
    ),
  ]
  return [
    'release-cli create',
    ...flags.flatMap(([flag, value]) => (value === null ? [] : [`${flag} ${quoted(value)}`])),
  ].join(' ')
}

const imageOf = ({ name, entrypoint, pull_policy, executor_opts }: NonNullable<JobOptions['image']>) => ({
  name,
  entrypoint,
  ports: [],
  pull_policy,
  executor_opts: executor_opts ?? {},
})

/** What reports are called where a runner is not told otherwise, and how it packs them. */
const REPORTS: Readonly<Record<string, readonly [filename: string, format: 'gzip' | 'raw' | 'zip']>> = {
  junit: ['junit.xml', 'gzip'],
  dotenv: ['.env', 'gzip'],
  cobertura: ['cobertura-coverage.xml', 'gzip'],
  jacoco: ['jacoco-coverage.xml', 'gzip'],
  metrics: ['metrics.txt', 'gzip'],
  cyclonedx: ['gl-sbom.cdx.json', 'gzip'],
  annotations: ['gl-annotations.json', 'gzip'],
  codequality: ['gl-code-quality-report.json', 'raw'],
  accessibility: ['gl-accessibility.json', 'raw'],
  terraform: ['tfplan.json', 'raw'],
  sast: ['gl-sast-report.json', 'raw'],
  secret_detection: ['gl-secret-detection-report.json', 'raw'],
  lsif: ['lsif.json', 'zip'],
}

export const reportFormat = (type: string): 'gzip' | 'raw' | 'zip' => REPORTS[type]?.[1] ?? 'raw'

function artifactsOf({ artifacts }: Options) {
  if (!artifacts) return null
  const { name, untracked, paths, exclude, when, expire_in, reports } = artifacts
  const archive =
    paths.length > 0 || untracked
      ? [{ name, untracked, paths, exclude, when, expire_in, artifact_type: 'archive', artifact_format: 'zip' }]
      : []
  return [
    ...archive,
    ...Object.entries(reports).map(([type, files]) => ({
      name: REPORTS[type]?.[0] ?? `gl-${type.replaceAll('_', '-')}-report.json`,
      untracked: false,
      paths: files,
      exclude: [],
      when: 'always',
      expire_in,
      artifact_type: type,
      artifact_format: reportFormat(type),
    })),
  ]
}

async function cachesOf(app: App, project: Project, job: Job, { cache = [] }: Options) {
  const dir = repositoryDir(app, project)
  const suffix = job.protected ? '-protected' : '-non_protected'
  return Promise.all(
    cache.map(async ({ key, paths, untracked, policy, when, fallback_keys, unprotect }) => ({
      key: (await keyOf(dir, job.sha, key)) + (unprotect ? '' : suffix),
      untracked,
      paths,
      policy,
      when,
      fallback_keys: fallback_keys.map((one) => one + (unprotect ? '' : suffix)),
    })),
  )
}

type CacheKey = NonNullable<JobOptions['cache']>[number]['key']

/** Of files: another one whenever one of them has changed. */
async function keyOf(dir: string, sha: string, key: CacheKey): Promise<string> {
  if (typeof key === 'string') return key
  const ids = await Promise.all(key.files.map((path) => lastCommitOf(dir, sha, path).catch(() => null)))
  const known = ids.filter((id) => id !== null)
  const rest = known.length === 0 ? 'default' : hash('sha1', known.join('-'))
  return key.prefix === null ? rest : `${key.prefix}-${rest}`
}
