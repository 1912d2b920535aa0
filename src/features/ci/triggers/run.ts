/** Pipelines that whoever has a token starts: as the trigger's owner, or as the user of the job that shows its own. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, invalid, unauthenticated } from '../../../errors.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProject, type Project } from '../../projects/projects/queries.ts'
import { createPipeline, type GivenVariable, type PipelineWish } from '../pipelines/create.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { namedRef } from '../pipelines/refs.ts'
import { JOB_TOKEN_PREFIX } from '../jobs/tokens.ts'
import { findUsableTrigger } from './queries.ts'

const MOST_VARIABLES = 100
const LONGEST_VALUE = 10_000
const LONGEST_KEY = 255

export interface StartWish {
  readonly token: string
  readonly ref: string
  readonly variables?: unknown
  readonly inputs?: Readonly<Record<string, unknown>> | null | undefined
  /** All that was sent but secrets. */
  readonly payload: Readonly<Record<string, unknown>>
}

export async function startByToken(
  app: App,
  path: string,
  wish: StartWish,
): Promise<{ project: Project; pipeline: Pipeline }> {
  const project = await findProject(app.db, path)
  // Whether there is such a project is told to those with a token alone.
  if (!project) throw unknown()
  const found = await (wish.token.startsWith(JOB_TOKEN_PREFIX) ? ofJob : ofTrigger)(app, project, wish.token)
  const variables = variablesFrom(wish)
  const asked = namedRef(wish.ref)
  if (!asked) throw invalid({ base: ['Reference not found'] })
  const { pipeline, errors } = await createPipeline(app, {
    project,
    ...found,
    ...asked,
    variables,
    ...(wish.inputs && { inputs: wish.inputs }),
  })
  if (!pipeline) throw invalid({ base: [...errors] })
  if (errors.length > 0) throw new Refusal('unprocessable', { base: [...errors] })
  return { project, pipeline }
}

const unknown = () => new Refusal('not_found', '404 Not Found')

type Starter = Pick<PipelineWish, 'actor' | 'source' | 'trigger_id'>

async function ofTrigger(app: App, project: Project, token: string): Promise<Starter> {
  const trigger = await findUsableTrigger(app, project.id, token)
  if (!trigger) throw unknown()
  await app.db
    .updateTable('pipeline_triggers')
    .set({ last_used_at: timestamp(app.clock) })
    .where('id', '=', trigger.id)
    .execute()
  const actor = trigger.owner_id === null ? null : await findUser(app.db, trigger.owner_id)
  return { actor, source: 'trigger', trigger_id: trigger.id }
}

async function ofJob(app: App, project: Project, token: string): Promise<Starter> {
  const job = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'status', 'user_id', 'project_id', 'erased_at'])
    .where('token_digest', '=', digestOf(token))
    .executeTakeFirst()
  if (!job || !(await letsIn(app, project, job.project_id))) throw unknown()
  if (!['running', 'canceling'].includes(job.status) || job.erased_at !== null) throw unauthenticated()
  return { actor: job.user_id === null ? null : await findUser(app.db, job.user_id), source: 'pipeline' }
}

/** A project that says so lets in no jobs but its own and those it names. */
async function letsIn({ db }: App, project: Project, from: number): Promise<boolean> {
  if (!project.job_token_scope_enabled || project.id === from) return true
  const found = await db
    .selectFrom('job_token_allowlist as list')
    .select('list.id')
    .where('list.project_id', '=', project.id)
    .where((eb) =>
      eb.or([
        eb('list.allowed_project_id', '=', from),
        eb(
          'list.allowed_group_id',
          'in',
          eb
            .selectFrom('projects')
            .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'projects.namespace_id')
            .select('a.ancestor_id')
            .where('projects.id', '=', from),
        ),
      ]),
    )
    .limit(1)
    .executeTakeFirst()
  return found !== undefined
}

function variablesFrom({ variables = null, payload }: StartWish): GivenVariable[] {
  const isNone = variables === null || variables === ''
  const isMap = typeof variables === 'object' && variables !== null && !Array.isArray(variables)
  const given = isMap ? Object.entries(variables) : []
  if (!(isMap || isNone) || !given.every(([, value]) => typeof value === 'string'))
    throw new Refusal('bad_request', 'variables needs to be a map of key-valued strings')
  if (given.length > MOST_VARIABLES) {
    throw invalid({ base: [`Maximum number of variables (${MOST_VARIABLES}) exceeded`] })
  }
  for (const [key, value] of given as [string, string][]) {
    if (!/^\w+$/.test(key) || key.length > LONGEST_KEY || value.length > LONGEST_VALUE) {
      throw invalid({ base: ['Variables are invalid'] })
    }
  }
  return [
    { key: 'TRIGGER_PAYLOAD', value: JSON.stringify(payload), variable_type: 'file', raw: true },
    ...(given as [string, string][]).map(([key, value]) => ({ key, value })),
  ]
}
