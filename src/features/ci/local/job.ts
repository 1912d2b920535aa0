/** Builds the agent's input for a planned job from the working copy. */
import { createHash, randomBytes } from 'node:crypto'
import type { JobInput } from '../../../ci/agent/job.ts'
import { fileVariables, type Plan, type PlannedJob } from '../../../ci/config/plan.ts'
import { Scope, valuesOf, type Variable } from '../../../ci/config/variables.ts'
import { guessTier, slugOf } from '../environments/making.ts'
import { slugOfRef, variablesFrom } from '../pipelines/predefined.ts'
import { cachesOf, withLabels } from '../runner-protocol/caches.ts'
import { definitionOf, FAILURE_REASONS } from '../runner-protocol/definition.ts'
import { factsOf, ofUser, predefinedFor, type LocalRunOptions } from './context.ts'
import { readHere } from './includes.ts'
import type { WorkingCopy } from './working-copy.ts'

/** The default timeout of a project. */
const TIMEOUT_S = 3600

export interface Handed {
  readonly id: number
  readonly plan: Plan
  readonly job: PlannedJob
  readonly options: LocalRunOptions
  /** Variables that earlier jobs have reported. */
  readonly reported: readonly Variable[]
  readonly dependencies: readonly { readonly id: number; readonly name: string; readonly archive: string }[]
}

export async function jobInput({ id, plan, job, options: input, reported, dependencies }: Handed): Promise<JobInput> {
  const { copy } = input
  const token = randomBytes(20).toString('hex')
  const predefined = await predefinedFor(input)
  const ofFile = fileVariables(plan, job).map(({ key, value, expand }) => ({ key, value, raw: !expand }))
  const before: Variable[] = [
    ...predefined,
    ...ofJob(id, token, job),
    ...ofFile,
    ...ofUser(copy),
    ...reported,
    ...input.variables,
  ]
  const { sha, ref, tag, protected: isProtected } = factsOf(copy, input.event)
  const variables = withLabels([...before, ...ofEnvironment(job, before)], isProtected)
  return {
    id,
    token,
    job_info: { name: job.name, stage: job.stage, project_name: copy.project },
    git_info: {
      repo_url: `${copy.origin?.url ?? 'http://localhost'}/${copy.project}.git`,
      ref,
      sha,
      ref_type: tag ? 'tag' : 'branch',
      protected: isProtected,
    },
    runner_info: { timeout: job.timeout ?? TIMEOUT_S },
    variables: variables.map(({ key, value, raw = false, file = false, masked = false }) => ({
      key,
      value,
      public: true,
      raw,
      file,
      masked,
    })),
    ...asSent(definitionOf(job, job.timeout)),
    cache: await cachesOf(job.cache, before, { isProtected, keyOf: (key) => keyOf(copy, key) }),
    dependencies: dependencies.map(({ id, name, archive }) => ({
      id,
      name,
      token,
      artifacts_file: { filename: archive, size: 1 },
    })),
    features: { trace_sections: false, failure_reasons: [...FAILURE_REASONS], token_mask_prefixes: [] },
  }
}

/** The definition is not sent over a network, but must have the same form as if it were. */
const asSent = (definition: ReturnType<typeof definitionOf>) =>
  JSON.parse(JSON.stringify(definition)) as Partial<JobInput>

function ofJob(id: number, token: string, job: PlannedJob): Variable[] {
  const secret = variablesFrom({ CI_JOB_TOKEN: token, CI_BUILD_TOKEN: token })
  return [
    ...variablesFrom({
      CI_PIPELINE_ID: 1,
      CI_PIPELINE_IID: 1,
      CI_JOB_ID: id,
      CI_JOB_NAME: job.name,
      CI_JOB_NAME_SLUG: slugOfRef(job.name),
      CI_JOB_GROUP_NAME: job.group,
      CI_JOB_STAGE: job.stage,
      CI_JOB_STARTED_AT: new Date().toISOString(),
      CI_JOB_MANUAL: job.when === 'manual' ? true : null,
      CI_NODE_INDEX: job.parallel?.index,
      CI_NODE_TOTAL: job.parallel?.total ?? 1,
      CI_BUILD_ID: id,
      CI_BUILD_NAME: job.name,
      CI_BUILD_STAGE: job.stage,
      CI_BUILD_MANUAL: job.when === 'manual' ? true : null,
    }),
    ...secret.map((one) => ({ ...one, masked: true })),
  ]
}

function ofEnvironment({ environment }: PlannedJob, known: readonly Variable[]): Variable[] {
  if (!environment) return []
  const name = new Scope([valuesOf(known)]).expand(environment.name)
  const own = { CI_ENVIRONMENT_NAME: name, CI_ENVIRONMENT_SLUG: slugOf(name) }
  const scope = new Scope([new Map(Object.entries(own)), valuesOf(known)])
  return variablesFrom({
    ...own,
    CI_ENVIRONMENT_TIER: environment.deployment_tier ?? guessTier(name),
    CI_ENVIRONMENT_ACTION: environment.action,
    CI_ENVIRONMENT_URL: environment.url && scope.expand(environment.url),
  })
}

/** A key from files depends on their current content, committed or not. */
async function keyOf({ root }: WorkingCopy, key: PlannedJob['cache'][number]['key']): Promise<string> {
  if (typeof key === 'string') return key
  const digest = createHash('sha1')
  let isAny = false
  for (const path of key.files) {
    const text = await readHere(root, path)
    if (text === null) continue
    isAny = true
    digest.update(`${path}\0${text}\0`)
  }
  const rest = isAny ? digest.digest('hex') : 'default'
  return key.prefix === null ? rest : `${key.prefix}-${rest}`
}
