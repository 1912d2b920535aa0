/** All variables of a job, in the order of the API contract. Later variables override earlier ones of the same name. */
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { Variable } from '../../../ci/config/variables.ts'
import { Scope, valuesOf } from '../../../ci/config/variables.ts'
import type { App, User } from '../../../context.ts'
import { knownCommits } from '../../../git/objects/commits.ts'
import { findTag } from '../../../git/refs/refs.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Namespace, Project } from '../../projects/projects/queries.ts'
import { pathWithNamespace, webUrlOf } from '../../projects/projects/queries.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { deployUserOf } from '../../repository/deploy-tokens/queries.ts'
import { storedLanguages } from '../../repository/languages/queries.ts'
import { mergeRequestVariables } from '../pipelines/merge-requests.ts'
import type { Pipeline } from '../pipelines/model.ts'
import {
  pipelineVariables,
  projectVariables,
  serverOf,
  serverVariables,
  slugOfRef,
  variablesFrom,
} from '../pipelines/predefined.ts'
import type { Runner } from '../runners/model.ts'
import { SHORT_TOKEN_LENGTH } from '../triggers/entity.ts'
import { settingsFor } from '../variables/queries.ts'
import type { Job } from './model.ts'
import { optionsOf } from './options.ts'
import { playedWith } from './service.ts'

/** A variable in the format for runners. */
export interface JobVariable {
  readonly key: string
  readonly value: string
  /** Services get the variable, too. */
  readonly public: boolean
  readonly file: boolean
  readonly masked: boolean
  readonly raw: boolean
}

export interface JobGround {
  readonly job: Job
  readonly project: Project
  readonly namespace: Namespace
  readonly pipeline: Pipeline
  /** The user that the job runs as. */
  readonly user: User | null
  readonly runner: Runner | null
  /** The jobs whose artifacts and variables this job gets. */
  readonly dependencies: readonly number[]
}

const shown = (variables: readonly Variable[]): JobVariable[] => variables.map((one) => given(one, true))
const hidden = (variables: readonly Variable[]): JobVariable[] => variables.map((one) => given(one, false))

const given = ({ key, value, raw, file, masked }: Variable, isPublic: boolean): JobVariable => ({
  key,
  value,
  public: isPublic,
  file: file ?? false,
  masked: masked ?? false,
  raw: raw ?? false,
})

export async function variablesOf(app: App, ground: JobGround): Promise<JobVariable[]> {
  const { job, project, pipeline, runner, user } = ground
  // The pipeline keeps the commit alive.
  const [commit = null] = await knownCommits(repositoryDir(app, project), [job.sha]).catch(() => [])
  const environment = await environmentOf(app, job)
  const options = optionsOf(job)
  const before = [
    ...shown(serverVariables(await serverOf(app))),
    ...ofJob(app, ground),
    ...shown(projectVariables(app, ground)),
    ...shown(pipelineVariables(app, ground, pipeline, commit)),
    ...shown(await aboutOrigin(app, ground)),
    ...shown(await aboutProject(app, project)),
    ...hidden(await deployVariables(app, project)),
    ...shown(mergeRequestVariables(pipeline)),
    ...shown(runner ? ofRunner(runner) : []),
    ...shown((options.variables ?? []).map(({ key, value, expand }) => ({ key, value, raw: !expand }))),
    ...shown(user ? ofUser(user) : []),
    ...hidden(await handedOver(app, ground.dependencies)),
    ...hidden(await settingsFor(app, { project, isProtected: job.protected, environment: environment?.name ?? null })),
    ...hidden(await ofPipeline(app, pipeline)),
  ]
  return [
    ...before,
    ...shown(environment ? ofEnvironment(environment, options.environment ?? null, before) : []),
    ...hidden(playedWith(app, job)),
  ]
}

function ofJob(app: App, { job, project, namespace }: JobGround): JobVariable[] {
  const options = optionsOf(job)
  const token = app.vault.open(job.token_sealed!)
  const { protocol, host } = new URL(app.url)
  const path = pathWithNamespace(project, namespace)
  const address = `${protocol}//gitlab-ci-token:${token}@${host}${new URL(app.url).pathname.replace(/\/$/, '')}/${path}.git`
  const secret = variablesFrom({
    CI_JOB_TOKEN: token,
    CI_BUILD_TOKEN: token,
    CI_REGISTRY_PASSWORD: token,
    CI_DEPENDENCY_PROXY_PASSWORD: token,
  }).map((one) => ({ ...one, masked: true }))
  return [
    ...shown(
      variablesFrom({
        CI_JOB_ID: job.id,
        CI_JOB_URL: pageBelow(webUrlOf(app, { project, namespace }), `jobs/${job.id}`),
        CI_JOB_NAME: job.name,
        CI_JOB_NAME_SLUG: slugOfRef(job.name),
        CI_JOB_GROUP_NAME: options.group,
        CI_JOB_STAGE: job.stage,
        CI_JOB_STARTED_AT: job.started_at,
        CI_JOB_MANUAL: job.when === 'manual' ? true : null,
        CI_NODE_INDEX: options.parallel?.index,
        CI_NODE_TOTAL: options.parallel?.total ?? 1,
        CI_REGISTRY_USER: 'gitlab-ci-token',
        CI_BUILD_ID: job.id,
        CI_BUILD_NAME: job.name,
        CI_BUILD_STAGE: job.stage,
        CI_BUILD_MANUAL: job.when === 'manual' ? true : null,
      }),
    ),
    ...hidden(secret),
    ...hidden(variablesFrom({ CI_REPOSITORY_URL: address })),
  ]
}

const LONGEST_MESSAGE = 50_000

const LONGEST_RELEASE = 1024

/** Variables about the origin of the pipeline: an annotated tag, a release, a schedule or a trigger. */
async function aboutOrigin(app: App, { job, project, pipeline }: JobGround): Promise<Variable[]> {
  const { db } = app
  const tag = job.tag ? await findTag(repositoryDir(app, project), job.ref).catch(() => null) : null
  const schedule =
    pipeline.schedule_id === null
      ? undefined
      : await db
          .selectFrom('pipeline_schedules')
          .select('description')
          .where('id', '=', pipeline.schedule_id)
          .executeTakeFirst()
  const release = job.tag
    ? await db
        .selectFrom('releases')
        .select('description')
        .where('project_id', '=', project.id)
        .where('tag', '=', job.ref)
        .executeTakeFirst()
    : undefined
  const trigger =
    pipeline.trigger_id === null
      ? undefined
      : await db
          .selectFrom('pipeline_triggers')
          .select('token_sealed')
          .where('id', '=', pipeline.trigger_id)
          .executeTakeFirst()
  return variablesFrom({
    CI_COMMIT_TAG_MESSAGE: tag?.annotation?.message.slice(0, LONGEST_MESSAGE),
    CI_RELEASE_DESCRIPTION: release?.description?.slice(0, LONGEST_RELEASE),
    CI_PIPELINE_SCHEDULE_DESCRIPTION: schedule?.description,
    CI_TRIGGER_SHORT_TOKEN: trigger && app.vault.open(trigger.token_sealed).slice(0, SHORT_TOKEN_LENGTH),
  })
}

const aboutProject = async ({ db }: App, { id }: Project) =>
  variablesFrom({ CI_PROJECT_REPOSITORY_LANGUAGES: (await storedLanguages(db, id)).join(',').toLowerCase() })

async function deployVariables(app: App, { id }: Project): Promise<Variable[]> {
  const found = await deployUserOf(app, id)
  if (!found) return []
  const [user, password] = variablesFrom({ CI_DEPLOY_USER: found.username, CI_DEPLOY_PASSWORD: found.password })
  return [user!, { ...password!, masked: true }]
}

const ofRunner = (runner: Runner) =>
  variablesFrom({
    CI_RUNNER_ID: runner.id,
    CI_RUNNER_DESCRIPTION: runner.description ?? '',
    CI_RUNNER_TAGS: runner.tags,
  })

const ofUser = ({ id, email, username, name }: User) =>
  variablesFrom({
    GITLAB_USER_ID: id,
    GITLAB_USER_EMAIL: email,
    GITLAB_USER_LOGIN: username,
    GITLAB_USER_NAME: name,
  })

/** Variables that earlier jobs have reported. */
async function handedOver(app: App, jobs: readonly number[]): Promise<Variable[]> {
  if (jobs.length === 0) return []
  const rows = await app.db
    .selectFrom('ci_job_variables')
    .selectAll()
    .where(inIdList(app.db, 'job_id', idList(app.db, jobs)))
    .orderBy('job_id')
    .orderBy('id')
    .execute()
  return rows.map(({ key, value_sealed }) => ({ key, value: app.vault.open(value_sealed) }))
}

const pipelineVariableRows = hotQuery((db, p: { id: number }) =>
  db.selectFrom('pipeline_variables').selectAll().where('pipeline_id', '=', p.id).orderBy('id'),
)

async function ofPipeline(app: App, { id }: Pipeline): Promise<Variable[]> {
  const rows = await pipelineVariableRows(app.db, { id })
  return rows.map((row) => opened(app, row))
}

const opened = (
  app: App,
  { key, value_sealed, variable_type, raw }: { key: string; value_sealed: string; variable_type: string; raw: boolean },
): Variable => ({ key, value: app.vault.open(value_sealed), file: variable_type === 'file', raw })

interface EnvironmentRow {
  readonly name: string
  readonly slug: string
  readonly tier: string
  readonly external_url: string | null
}

async function environmentOf({ db }: App, { environment_id }: Job): Promise<EnvironmentRow | null> {
  if (environment_id === null) return null
  const columns = ['name', 'slug', 'tier', 'external_url'] as const
  return (
    (await db.selectFrom('environments').select(columns).where('id', '=', environment_id).executeTakeFirst()) ?? null
  )
}

function ofEnvironment(
  { name, slug, tier, external_url }: EnvironmentRow,
  definition: { readonly url: string | null; readonly action: string } | null,
  known: readonly JobVariable[],
): Variable[] {
  const scope = new Scope([
    new Map([
      ['CI_ENVIRONMENT_SLUG', slug],
      ['CI_ENVIRONMENT_NAME', name],
    ]),
    valuesOf(known),
  ])
  return variablesFrom({
    CI_ENVIRONMENT_NAME: name,
    CI_ENVIRONMENT_SLUG: slug,
    CI_ENVIRONMENT_TIER: tier,
    CI_ENVIRONMENT_ACTION: definition?.action ?? 'start',
    CI_ENVIRONMENT_URL: definition?.url ? scope.expand(definition.url) : external_url,
  })
}

/** Values that the log must not show: those of masked variables, longest first. */
export const masksIn = (variables: readonly JobVariable[]): string[] =>
  [...new Set(variables.filter(({ masked, value }) => masked && value !== '').map(({ value }) => value))].toSorted(
    (a, b) => b.length - a.length,
  )
