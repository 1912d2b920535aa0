/** Reads one job with its values from `default`. */
import { tooLong } from '../../lib/text/faults.ts'
import { readIdTokens, readEnvironment, readPages, readRelease, readSecrets } from './deploying.ts'
import type { Environment, IdTokens, Pages, Release, Secrets } from './deploying.ts'
import { MONTH, WEEK, parseSpan } from './durations.ts'
import { readAllowFailure, readRetry, type AllowFailure, type Retry } from './failures.ts'
import type { Spot } from './faults.ts'
import { readArtifacts, readCaches, type Artifacts, type Cache } from './files.ts'
import { readImage, readServices, type Image, type Service } from './images.ts'
import { readJobInputs, type JobInput } from './job-inputs.ts'
import { readNeeds, type Need } from './needs.ts'
import { readParallel, type Parallel } from './parallel.ts'
import { USUAL, readPolicy, type Policy } from './policies.ts'
import { patternIn } from './expressions.ts'
import { WHENS, readRules, type Rule, type When } from './rules.ts'
import { isMapping, newMapping, type Mapping, type Value } from './tree.ts'
import { readTrigger, type Trigger } from './trigger.ts'
import { flatten, isText, isTexts, knowsKeys, oneOf, textAt, textsAt } from './values.ts'
import { readVariables, type YamlVariable } from './yaml-variables.ts'

const MOST_TAGS = 50
const LONGEST_NAME = 255
const SCRIPT_FAULT = 'should be a string or a nested array of strings up to 10 levels deep'

export interface Hooks {
  readonly pre_get_sources_script: readonly string[]
}

/** Keywords that `default` may set. */
const DEFAULTABLE = {
  image: readImage,
  services: readServices,
  before_script: readCommands,
  after_script: readCommands,
  cache: readCaches,
  artifacts: readArtifacts,
  tags: readTags,
  retry: readRetry,
  timeout: readTimeout,
  interruptible: readFlag,
  hooks: readHooks,
  id_tokens: readIdTokens,
}

export type DefaultKey = keyof typeof DEFAULTABLE
export const DEFAULT_KEYS = Object.keys(DEFAULTABLE) as DefaultKey[]

/** Keywords of `default` that older files have at the top level. */
export const TOP_DEFAULT_KEYS = ['image', 'services', 'before_script', 'after_script', 'cache'] as const

export interface Defaults {
  image?: Image | null
  services?: Service[] | null
  before_script?: string[] | null
  after_script?: string[] | null
  cache?: Cache[] | null
  artifacts?: Artifacts | null
  tags?: string[] | null
  retry?: Retry | null
  timeout?: number | null
  interruptible?: boolean | null
  hooks?: Hooks | null
  id_tokens?: IdTokens | null
}

export function readDefault(key: DefaultKey, value: Value, spot: Spot): Defaults {
  return { [key]: DEFAULTABLE[key](value, spot) }
}

/** Values that all jobs of a file share. */
export interface Shared {
  readonly defaults: Defaults
  readonly hasWorkflowRules: boolean
}

export interface JobDefinition {
  readonly name: string
  readonly stage: string
  readonly before_script: readonly string[]
  readonly script: readonly string[]
  readonly after_script: readonly string[]
  /** Steps, as written. */
  readonly run: readonly Readonly<Record<string, unknown>>[] | null
  readonly when: When
  readonly start_in: number | null
  /** Null: not set. */
  readonly allow_failure: AllowFailure | null
  readonly tags: readonly string[]
  readonly image: Image | null
  readonly services: readonly Service[]
  readonly variables: readonly YamlVariable[]
  /** Which variables of the file the job inherits. */
  readonly inherit_variables: boolean | readonly string[]
  readonly artifacts: Artifacts | null
  readonly cache: readonly Cache[]
  readonly needs: readonly Need[] | null
  readonly dependencies: readonly string[] | null
  readonly environment: Environment | null
  /** A pattern in RE2's syntax. */
  readonly coverage: string | null
  readonly retry: Retry | null
  readonly resource_group: string | null
  readonly interruptible: boolean | null
  /** In seconds. */
  readonly timeout: number | null
  readonly trigger: Trigger | null
  readonly release: Release | null
  readonly id_tokens: IdTokens | null
  readonly secrets: Secrets | null
  readonly pages: Pages | null
  readonly hooks: Hooks | null
  readonly identity: string | null
  readonly manual_confirmation: string | null
  readonly dast_configuration: Readonly<Record<string, unknown>> | null
  readonly parallel: Parallel | null
  readonly rules: readonly Rule[] | null
  readonly only: Policy | null
  readonly except: Policy | null
  readonly inputs: readonly JobInput[]
}

const COMMON_KEYS = [
  'extends',
  'stage',
  'type',
  'only',
  'except',
  'rules',
  'variables',
  'inherit',
  'allow_failure',
  'when',
  'start_in',
  'needs',
  'resource_group',
  'environment',
  'interruptible',
  'parallel',
  'manual_confirmation',
]
const BRIDGE_KEYS = [...COMMON_KEYS, 'trigger']
const BUILD_KEYS = [
  ...COMMON_KEYS,
  ...DEFAULT_KEYS,
  'script',
  'run',
  'dependencies',
  'coverage',
  'release',
  'secrets',
  'pages',
  'publish',
  'identity',
  'dast_configuration',
  'inputs',
]

export function readJob(name: string, job: Mapping, spot: Spot, { defaults, hasWorkflowRules }: Shared): JobDefinition {
  const isBridge = (job['trigger'] ?? null) !== null
  if (name.length > LONGEST_NAME) spot.say(`name ${tooLong(LONGEST_NAME)}`)
  const together = isBridge
    ? ['script', 'run'].filter((key) => key in job)
    : 'script' in job && 'run' in job
      ? ['run']
      : []
  for (const key of together)
    spot.config(`these keys cannot be used together: ${isBridge ? `${key}, trigger` : 'run, script'}`)
  knowsKeys(
    spot,
    job,
    together.length > 0 && isBridge ? [...BRIDGE_KEYS, ...BUILD_KEYS] : isBridge ? BRIDGE_KEYS : BUILD_KEYS,
  )
  const inherit = readInherit(job, spot)
  const own = ownOrDefault(job, spot, isBridge ? {} : keep(defaults, inherit.defaults))
  const when = oneOf(spot, job, 'when', WHENS) ?? 'on_success'
  const rules = 'rules' in job && job['rules'] !== null ? readRules(job['rules']!, spot.at(job, 'rules'), 'job') : null
  const needs = readNeeds(job['needs'] ?? null, spot.at(job, 'needs'))
  const dependencies = textsAt(spot, job, 'dependencies')
  const pages = isBridge ? null : readPages(name, job, spot)
  checkTogether(job, spot, { rules, needs, dependencies })
  return {
    name,
    stage: textAt(spot, job, 'stage' in job ? 'stage' : 'type') ?? 'test',
    before_script: own.before_script ?? [],
    script: readScript(job, spot),
    after_script: own.after_script ?? [],
    run: readRun(job, spot),
    when,
    start_in: readStart(job, spot, when),
    allow_failure: readAllowFailure(job, spot),
    tags: own.tags ?? [],
    image: own.image ?? null,
    services: own.services ?? [],
    variables: 'variables' in job ? readVariables(job['variables']!, spot.at(job, 'variables')) : [],
    inherit_variables: inherit.variables,
    artifacts: withSite(own.artifacts ?? null, pages, spot),
    cache: own.cache ?? [],
    needs,
    dependencies,
    environment: readEnvironment(job['environment'] ?? null, spot.at(job, 'environment')),
    coverage: readCoverage(job, spot),
    retry: own.retry ?? null,
    resource_group: textAt(spot, job, 'resource_group'),
    interruptible: own.interruptible ?? null,
    timeout: own.timeout ?? null,
    trigger: isBridge ? readTrigger(job['trigger']!, spot.at(job, 'trigger')) : null,
    release: readRelease(job['release'] ?? null, spot.at(job, 'release')),
    id_tokens: own.id_tokens ?? null,
    secrets: readSecrets(job['secrets'] ?? null, spot.at(job, 'secrets')),
    pages,
    hooks: own.hooks ?? null,
    identity: textAt(spot, job, 'identity'),
    manual_confirmation: textAt(spot, job, 'manual_confirmation'),
    dast_configuration: isMapping(job['dast_configuration']) ? { ...job['dast_configuration'] } : null,
    parallel: readParallel(job['parallel'] ?? null, spot.at(job, 'parallel')),
    rules,
    inputs: readJobInputs(job['inputs'] ?? null, spot.at(job, 'inputs')),
    ...readPolicies(job, spot, rules !== null || hasWorkflowRules),
  }
}

/** The folder of a site is kept as an artifact, even if `artifacts` does not name it. */
function withSite(written: Artifacts | null, pages: Pages | null, spot: Spot): Artifacts | null {
  const artifacts = pages ? (written ?? readArtifacts(newMapping(), spot)) : written
  if (!pages || !artifacts || artifacts.paths.includes(pages.publish)) return artifacts
  return { ...artifacts, paths: [...artifacts.paths, pages.publish] }
}

function ownOrDefault(job: Mapping, spot: Spot, defaults: Defaults): Defaults {
  const own = DEFAULT_KEYS.filter((key) => (job[key] ?? null) !== null).map((key) =>
    readDefault(key, job[key]!, spot.at(job, key)),
  )
  return Object.assign({ ...defaults }, ...own)
}

function keep(defaults: Defaults, inherited: boolean | readonly string[]): Defaults {
  if (typeof inherited === 'boolean') return inherited ? defaults : {}
  return Object.fromEntries(Object.entries(defaults).filter(([key]) => inherited.includes(key)))
}

function readInherit(job: Mapping, spot: Spot) {
  const inherit = job['inherit'] ?? null
  const at = spot.at(job, 'inherit')
  if (inherit !== null && !isMapping(inherit)) at.config('should be a hash')
  const entry = isMapping(inherit) ? inherit : {}
  knowsKeys(at, entry, ['default', 'variables'])
  const read = (key: string): boolean | string[] => {
    const value = entry[key] ?? true
    if (typeof value === 'boolean' || isTexts(value)) return value
    return at.at(entry, key).config('should be a bool or array of strings') ?? true
  }
  const defaults = read('default')
  const unknown = Array.isArray(defaults) ? defaults.filter((key) => !DEFAULT_KEYS.some((known) => known === key)) : []
  if (unknown.length > 0) at.at(entry, 'default').config(`contains unknown values: ${unknown.slice(0, 10).join(', ')}`)
  return { defaults, variables: read('variables') }
}

function readPolicies(job: Mapping, spot: Spot, hasRules: boolean): { only: Policy | null; except: Policy | null } {
  const only =
    'only' in job && job['only'] !== null ? readPolicy(job['only']!, spot.at(job, 'only')) : hasRules ? null : USUAL
  const except = 'except' in job && job['except'] !== null ? readPolicy(job['except']!, spot.at(job, 'except')) : null
  // A mapping without `refs` still means branches and tags.
  return { only: only && !only.refs && !hasRules ? { ...only, refs: USUAL.refs } : only, except }
}

function checkTogether(
  job: Mapping,
  spot: Spot,
  { rules, needs, dependencies }: Pick<JobDefinition, 'rules' | 'needs' | 'dependencies'>,
): void {
  for (const key of ['only', 'except'])
    if (rules && (job[key] ?? null) !== null) spot.config(`key may not be used with \`rules\`: ${key}`)
  const needed = needs && new Set(needs.flatMap((need) => (need.kind === 'job' ? [need.job] : [])))
  const missing = needed && dependencies?.filter((name) => !needed.has(name))
  if (missing && missing.length > 0)
    spot.say(`dependencies the ${missing.slice(0, 10).join(', ')} should be part of needs`)
}

function readStart(job: Mapping, spot: Spot, when: When): number | null {
  const value = job['start_in'] ?? null
  if (when !== 'delayed') return value === null ? null : (spot.attribute(job, 'start_in', 'must be blank') ?? null)
  const seconds = parseSpan(value)
  if (seconds === null) return spot.attribute(job, 'start_in', 'should be a duration') ?? null
  return seconds > WEEK ? (spot.attribute(job, 'start_in', 'should not exceed the limit') ?? null) : seconds
}

function readScript(job: Mapping, spot: Spot): string[] {
  if (!('script' in job)) return []
  const script = readCommands(job['script']!, spot.at(job, 'script'))
  if (script?.every((line) => line.trim() === '')) spot.attribute(job, 'script', "can't be blank")
  return script ?? []
}

function readRun(job: Mapping, spot: Spot): JobDefinition['run'] {
  const run = job['run'] ?? null
  if (run === null) return null
  if (Array.isArray(run) && run.length > 0 && run.every(isMapping)) return run.map((step) => ({ ...step }))
  return spot.at(job, 'run').config('should be an array of hashes') ?? null
}

function readCoverage(job: Mapping, spot: Spot): string | null {
  const value = job['coverage'] ?? null
  if (value === null) return null
  const at = spot.at(job, 'coverage')
  const refuse = () => at.config('must be a regular expression with re2 syntax')
  const pattern = isText(value) ? patternIn(value) : null
  if (pattern === null) return refuse() ?? null
  spot.faults.claims.push({ pattern, refuse })
  return pattern
}

function readCommands(value: Value, spot: Spot): string[] | null {
  if (value === null) return []
  return flatten(value, isText) ?? spot.config(SCRIPT_FAULT) ?? null
}

function readTags(value: Value, spot: Spot): string[] | null {
  const tags = Array.isArray(value) ? (value.flat(10) as Value[]) : value
  if (!isTexts(tags)) return spot.config('should be an array of strings') ?? null
  return tags.length > MOST_TAGS ? (spot.config(`must be less than the limit of ${MOST_TAGS} tags`) ?? null) : tags
}

function readTimeout(value: Value, spot: Spot): number | null {
  const seconds = parseSpan(value)
  if (seconds === null) return spot.config('should be a duration') ?? null
  return seconds > MONTH ? (spot.config('should not exceed the limit') ?? null) : seconds
}

function readFlag(value: Value, spot: Spot): boolean | null {
  return typeof value === 'boolean' ? value : (spot.config('should be a boolean value') ?? null)
}

function readHooks(value: Value, spot: Spot): Hooks | null {
  if (!isMapping(value)) return spot.config('should be a hash') ?? null
  knowsKeys(spot, value, ['pre_get_sources_script'])
  return {
    pre_get_sources_script:
      readCommands(value['pre_get_sources_script'] ?? null, spot.at(value, 'pre_get_sources_script')) ?? [],
  }
}
