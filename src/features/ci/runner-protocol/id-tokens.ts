/**
 * Signs ID tokens, by which a job identifies itself to other services: JWTs that everybody can verify with the public
 * key of this server.
 */
import { randomUUID } from 'node:crypto'
import { Scope, valuesOf } from '../../../ci/config/variables.ts'
import type { App } from '../../../context.ts'
import { Developer, Guest, Master, Owner, Reporter } from '../../../lib/levels.ts'
import { signToken } from '../../identity/oauth/openid.ts'
import { findUser } from '../../identity/users/queries.ts'
import { loadProjectSubject, pathWithNamespace, type Project } from '../../projects/projects/queries.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import type { JobVariable } from '../jobs/variables.ts'
import { wholeRef } from '../pipelines/create.ts'
import { DEFAULT_CONFIG_PATH } from '../pipelines/predefined.ts'
import type { Pipeline } from '../pipelines/model.ts'
import type { Runner } from '../runners/model.ts'

/** The facts that a token contains. */
interface Payload {
  readonly job: Job
  readonly project: Project
  readonly pipeline: Pipeline
  readonly runner: Runner
}

const SHORTEST_SECONDS = 300
/** Tolerance for clock differences. */
const EARLIER_SECONDS = 5

/** One token for each name in `id_tokens`. The audience may contain variables. */
export async function idTokensOf(app: App, payload: Payload, known: readonly JobVariable[]): Promise<JobVariable[]> {
  const tokens = Object.entries(optionsOf(payload.job).id_tokens ?? {})
  if (tokens.length === 0) return []
  const claims = { ...(await claimsOf(app, payload)), ...(await environmentClaims(app, payload.job)) }
  const scope = new Scope([valuesOf(known)])
  return Promise.all(
    tokens.map(async ([key, { aud }]) => {
      const [first, ...rest] = aud.map(scope.expand)
      const token = { ...claims, jti: randomUUID(), aud: rest.length === 0 ? first : [first, ...rest] }
      return { key, value: await signToken(app, token), public: false, file: false, masked: true, raw: true }
    }),
  )
}

async function claimsOf(app: App, { job, project, pipeline, runner }: Payload) {
  const user = job.user_id === null ? null : await findUser(app.db, job.user_id)
  const { namespace, level } = await loadProjectSubject(app, project, user)
  const now = Math.floor(app.clock.now().getTime() / 1000)
  const project_path = pathWithNamespace(project, namespace)
  const ref_path = wholeRef(job.ref, job.tag)
  const ref_type = job.tag ? 'tag' : 'branch'
  const config = project.ci_config_path || DEFAULT_CONFIG_PATH
  return {
    iss: app.url,
    iat: now,
    nbf: now - EARLIER_SECONDS,
    exp: now + Math.max(job.timeout ?? project.build_timeout, SHORTEST_SECONDS),
    sub: `project_path:${project_path}:ref_type:${ref_type}:ref:${job.ref}`,
    namespace_id: String(namespace.id),
    namespace_path: namespace.full_path,
    project_id: String(project.id),
    project_path,
    project_visibility: project.visibility,
    ...(user && {
      user_id: String(user.id),
      user_login: user.username,
      user_email: user.email,
      user_access_level: levelName(level),
    }),
    pipeline_id: String(pipeline.id),
    pipeline_source: pipeline.source,
    job_id: String(job.id),
    ref: job.ref,
    ref_type,
    ref_path,
    ref_protected: String(job.protected),
    sha: job.sha,
    runner_id: runner.id,
    runner_environment: 'self-hosted',
    // A configuration file from another project or URL does not belong to this commit.
    ...(!/@|:\/\//.test(config) && {
      ci_config_ref_uri: `${new URL(app.url).host}/${project_path}//${config}@${ref_path}`,
      ci_config_sha: pipeline.sha,
    }),
  }
}

/** Read from the row, because anybody can set variables of these names. */
async function environmentClaims({ db }: App, job: Job) {
  if (job.environment_id === null) return {}
  const found = await db
    .selectFrom('environments')
    .select(['name', 'tier'])
    .where('id', '=', job.environment_id)
    .executeTakeFirst()
  if (!found) return {}
  return {
    environment: found.name,
    environment_protected: 'false',
    environment_action: optionsOf(job).environment?.action ?? 'start',
    deployment_tier: found.tier,
  }
}

const LEVELS = [
  [Owner, 'owner'],
  [Master, 'maintainer'],
  [Developer, 'developer'],
  [Reporter, 'reporter'],
  [Guest, 'guest'],
] as const

const levelName = (level: number): string | null => LEVELS.find(([least]) => level >= least)?.[1] ?? null
