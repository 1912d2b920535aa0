/** Pipelines that a token starts: as the owner of the trigger, or as the user of the job whose token it is. */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, invalid, unauthenticated } from '../../../errors.ts'
import { findUser } from '../../identity/users/queries.ts'
import { findProject, type Project } from '../../projects/projects/queries.ts'
import { createPipeline, type VariableInput, type PipelineInput } from '../pipelines/create.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { parseRefName } from '../pipelines/refs.ts'
import { isAlive, isLetIn, jobOfToken } from '../job-tokens/queries.ts'
import { JOB_TOKEN_PREFIX } from '../jobs/tokens.ts'
import { findUsableTrigger } from './queries.ts'

const MOST_VARIABLES = 100
const LONGEST_VALUE = 10_000
const LONGEST_KEY = 255

export interface StartOptions {
  readonly token: string
  readonly ref: string
  readonly variables?: unknown
  readonly inputs?: Readonly<Record<string, unknown>> | null | undefined
  /** The request payload without secrets. */
  readonly payload: Readonly<Record<string, unknown>>
}

export async function startByToken(
  app: App,
  path: string,
  input: StartOptions,
): Promise<{ project: Project; pipeline: Pipeline }> {
  const project = await findProject(app.db, path)
  // Only callers with a valid token learn whether the project exists.
  if (!project) throw unknown()
  const found = await (input.token.startsWith(JOB_TOKEN_PREFIX) ? ofJob : ofTrigger)(app, project, input.token)
  const variables = variablesFrom(input)
  const asked = parseRefName(input.ref)
  if (!asked) throw invalid({ base: ['Reference not found'] })
  const { pipeline, errors } = await createPipeline(app, {
    project,
    ...found,
    ...asked,
    variables,
    ...(input.inputs && { inputs: input.inputs }),
  })
  if (!pipeline) throw invalid({ base: [...errors] })
  if (errors.length > 0) throw new Refusal('unprocessable', { base: [...errors] })
  return { project, pipeline }
}

const unknown = () => new Refusal('not_found', '404 Not Found')

type Starter = Pick<PipelineInput, 'actor' | 'source' | 'trigger_id'>

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
  const job = await jobOfToken(app, token)
  // Starting a pipeline is a write, so it needs an allowlist entry; see `jobReaches`.
  if (!job || !(await isLetIn(app.db, { from: job.project_id, to: project.id, byName: true }))) throw unknown()
  if (!isAlive(job)) throw unauthenticated()
  return { actor: job.user_id === null ? null : await findUser(app.db, job.user_id), source: 'pipeline' }
}

function variablesFrom({ variables = null, payload }: StartOptions): VariableInput[] {
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
