/** Pipelines that a token starts. */
import type { CredentialRecord } from '../../../api/credentials.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, assertAtMost, invalid } from '../../../errors.ts'
import { createPipeline } from '../pipelines/create.ts'
import type { Pipeline } from '../pipelines/model.ts'
import { parseRefName } from '../pipelines/refs.ts'
import type { VariableInput } from '../pipelines/saving.ts'
import type { triggerToken } from './credentials.ts'

const MOST_VARIABLES = 100
const LONGEST_VALUE = 10_000
const LONGEST_KEY = 255

export interface StartOptions {
  readonly ref: string
  readonly variables?: unknown
  readonly inputs?: Readonly<Record<string, unknown>> | null | undefined
  /** The request payload without secrets. */
  readonly payload: Readonly<Record<string, unknown>>
}

export async function startByToken(
  app: App,
  { project, ...starter }: CredentialRecord<typeof triggerToken>,
  input: StartOptions,
): Promise<Pipeline> {
  if (starter.trigger_id !== undefined) await noteUse(app, starter.trigger_id)
  const variables = variablesFrom(input)
  const parsed = parseRefName(input.ref)
  if (!parsed) throw invalid({ base: ['Reference not found'] })
  const { pipeline, errors } = await createPipeline(app, {
    project,
    ...starter,
    ...parsed,
    variables,
    ...(input.inputs && { inputs: input.inputs }),
  })
  if (!pipeline) throw invalid({ base: [...errors] })
  if (errors.length > 0) throw new Refusal('unprocessable', { base: [...errors] })
  return pipeline
}

const noteUse = ({ db, clock }: App, trigger: number) =>
  db
    .updateTable('pipeline_triggers')
    .set({ last_used_at: timestamp(clock) })
    .where('id', '=', trigger)
    .execute()

function variablesFrom({ variables = null, payload }: StartOptions): VariableInput[] {
  const isNone = variables === null || variables === ''
  const isMap = typeof variables === 'object' && variables !== null && !Array.isArray(variables)
  const given = isMap ? Object.entries(variables) : []
  if (!(isMap || isNone) || !given.every(([, value]) => typeof value === 'string'))
    throw new Refusal('bad_request', 'variables needs to be a map of key-valued strings')
  assertAtMost(given.length, MOST_VARIABLES, 'variables')
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
