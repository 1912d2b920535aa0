/** The whole configuration, independent of a pipeline: stages, workflow, and all jobs with their needs. */
import { pauses } from '../../lib/async/pauses.ts'
import { tooLong } from '../../lib/text/faults.ts'
import { Spot, type Faults } from './faults.ts'
import { DEFAULT_KEYS, TOP_DEFAULT_KEYS, readDefault, readJob, type Defaults, type JobDefinition } from './jobs.ts'
import type { Need } from './needs.ts'
import { readRules, type Rule } from './rules.ts'
import { isMapping, markOf, type Mapping, type Mark, type Value } from './tree.ts'
import { flatten, isText, knowsKeys, mappingOf, textAt } from './values.ts'
import { readAutoCancel, type AutoCancel } from './workflow.ts'
import { readVariables, type YamlVariable } from './yaml-variables.ts'

export interface Definition {
  /** Includes `.pre` and `.post`. */
  readonly stages: readonly string[]
  readonly workflow: {
    readonly name: string | null
    readonly rules: readonly Rule[] | null
    readonly auto_cancel: AutoCancel | null
  }
  readonly variables: readonly YamlVariable[]
  readonly jobs: ReadonlyMap<string, JobDefinition>
}

const USUAL_STAGES = ['build', 'test', 'deploy']
const TOP_KEYS: readonly string[] = [
  ...TOP_DEFAULT_KEYS,
  'default',
  'variables',
  'stages',
  'types',
  'workflow',
  'include',
]

export async function readDefinition(root: Mapping, faults: Faults, limits: { needs: number }): Promise<Definition> {
  const top = new Spot(faults, '', undefined)
  const workflow = readWorkflow(root, top)
  const definition = {
    stages: readStages(root, top),
    workflow,
    variables: 'variables' in root ? readVariables(root['variables']!, top.at(root, 'variables'), true) : [],
    jobs: await readJobs(root, top, { defaults: readDefaults(root, top), hasWorkflowRules: workflow.rules !== null }),
  }
  // Relations between jobs are checked only if each job is valid by itself.
  if (faults.list.length === 0) await new Relations(root, definition, faults, limits).check()
  return definition
}

function readStages(root: Mapping, top: Spot): string[] {
  const key = 'stages' in root ? 'stages' : 'types'
  const written = root[key] ?? null
  const stages = written === null ? USUAL_STAGES : Array.isArray(written) ? flatten(written, isText) : null
  if (!stages) top.at(root, key).config('should be an array of strings')
  const own = new Set(stages ?? USUAL_STAGES)
  return ['.pre', ...[...own].filter((stage) => stage !== '.pre' && stage !== '.post'), '.post']
}

function readDefaults(root: Mapping, top: Spot): Defaults {
  const defaults: Defaults = {}
  const written = root['default'] ?? null
  const spot = top.at(root, 'default')
  const entry = written === null ? {} : (mappingOf(spot, written) ?? {})
  knowsKeys(spot, entry, DEFAULT_KEYS)
  for (const key of TOP_DEFAULT_KEYS) {
    if ((root[key] ?? null) === null) continue
    Object.assign(defaults, readDefault(key, root[key]!, top.at(root, key)))
    if (key in entry) top.at(root, key).say('is defined in top-level and `default:` entry')
  }
  for (const key of DEFAULT_KEYS)
    if ((entry[key] ?? null) !== null) Object.assign(defaults, readDefault(key, entry[key]!, spot.at(entry, key)))
  return defaults
}

function readWorkflow(root: Mapping, top: Spot): Definition['workflow'] {
  const none = { name: null, rules: null, auto_cancel: null }
  const written = root['workflow'] ?? null
  const spot = top.at(root, 'workflow')
  const entry = written === null ? null : mappingOf(spot, written)
  if (!entry) return none
  knowsKeys(spot, entry, ['name', 'rules', 'auto_cancel'])
  const name = textAt(spot, entry, 'name')
  if (name !== null && name.length > 255) spot.attribute(entry, 'name', tooLong(255))
  return {
    name,
    rules: (entry['rules'] ?? null) === null ? null : readRules(entry['rules']!, spot.at(entry, 'rules'), 'workflow'),
    auto_cancel:
      (entry['auto_cancel'] ?? null) === null
        ? null
        : readAutoCancel(entry['auto_cancel']!, spot.at(entry, 'auto_cancel')),
  }
}

async function readJobs(root: Mapping, top: Spot, shared: { defaults: Defaults; hasWorkflowRules: boolean }) {
  const jobs = new Map<string, JobDefinition>()
  const pause = pauses()
  let isEmpty = true
  for (const [name, value] of Object.entries(root)) {
    if (name.startsWith('.') || TOP_KEYS.includes(name)) continue
    isEmpty = false
    const spot = top.at(root, name, `jobs:${name.slice(0, 300)}`)
    if (markOf(root, name)?.odd) spot.say('name should be a symbol')
    else if (!isImplemented(value))
      top.faults.add(`jobs ${name} config should implement the script:, run:, or trigger: keyword`, spot.mark)
    else {
      jobs.set(name, readJob(name, value, spot, shared))
      if (!shared.hasWorkflowRules) warnOfDoubles(jobs.get(name)!, spot)
    }
    await pause()
  }
  if (isEmpty) top.faults.add('jobs config should contain at least one visible job')
  return jobs
}

const isImplemented = (value: Value): value is Mapping =>
  isMapping(value) && ['script', 'run', 'trigger'].some((key) => (value[key] ?? null) !== null)

/** Warns if a branch with a merge request would have two pipelines. */
function warnOfDoubles({ rules }: JobDefinition, spot: Spot): void {
  const last = rules?.at(-1)
  if (last && !last.if && !last.changes && !last.exists && last.when !== null && last.when !== 'never')
    spot.faults.warn(
      `${spot.path} may allow multiple pipelines to run for a single action due to \`rules:when\` clause with no \`workflow:rules\``,
    )
}

/** Checks the relations between jobs. */
class Relations {
  readonly #root: Mapping
  readonly #definition: Definition
  readonly #faults: Faults
  readonly #mostNeeds: number
  readonly #stages: ReadonlyMap<string, number>

  constructor(root: Mapping, definition: Definition, faults: Faults, limits: { needs: number }) {
    this.#root = root
    this.#definition = definition
    this.#faults = faults
    this.#mostNeeds = limits.needs
    this.#stages = new Map(definition.stages.map((stage, n) => [stage, n]))
  }

  async check(): Promise<void> {
    const { stages, jobs } = this.#definition
    const pause = pauses()
    for (const job of jobs.values()) {
      if (!this.#stages.has(job.stage))
        this.#say(
          job,
          'stage',
          `${job.name} job: chosen stage ${job.stage} does not exist; available stages are ${stages.slice(0, 50).join(', ')}`,
        )
      for (const name of job.dependencies ?? []) this.#checkName(job, name, 'dependency')
      for (const needs of [job.needs, ...(job.rules ?? []).map((rule) => rule.needs)])
        if (needs) this.#checkNeeds(job, needs)
      this.#checkStop(job)
      await pause()
    }
    if (this.#faults.list.length > 0) return
    const circle = circleIn(new Map([...jobs.values()].map((job) => [job.name, neededBy(job.needs)])))
    if (circle) this.#say(jobs.get(circle.name)!, 'needs', circle.message)
  }

  #say({ name }: JobDefinition, key: string, text: string): void {
    this.#faults.add(text, markOfJob(this.#root, name, key))
  }

  #checkName(job: JobDefinition, name: string, kind: 'dependency' | 'need'): void {
    const key = kind === 'need' ? 'needs' : 'dependencies'
    const other = this.#definition.jobs.get(name)
    if (!other) this.#say(job, key, `${job.name} job: undefined ${kind}: ${name}`)
    else if ((this.#stages.get(other.stage) ?? 0) > (this.#stages.get(job.stage) ?? 0))
      this.#say(job, key, `${job.name} job: ${kind} ${name} is not defined in current or prior stages`)
  }

  #checkNeeds(job: JobDefinition, needs: readonly Need[]): void {
    if (needs.length > this.#mostNeeds)
      this.#say(
        job,
        'needs',
        `${job.name}: one job can only need ${this.#mostNeeds} others, but you have listed ${needs.length}. See needs keyword documentation for more details.`,
      )
    const seen = new Set<string>()
    const doubled = new Set<string>()
    for (const need of needs) {
      if (need.kind !== 'job') continue
      const key = need.matrix ? JSON.stringify([need.job, need.matrix]) : need.job
      if (seen.has(key)) doubled.add(need.job)
      seen.add(key)
      if (!need.optional || this.#definition.jobs.has(need.job)) this.#checkName(job, need.job, 'need')
    }
    if (doubled.size > 0)
      this.#say(job, 'needs', `${job.name} has the following needs duplicated: ${[...doubled].join(', ')}.`)
  }

  #checkStop(job: JobDefinition): void {
    const { on_stop, name } = job.environment ?? {}
    if (!on_stop) return
    const other = this.#definition.jobs.get(on_stop)
    const fault = !other
      ? 'is not defined'
      : !other.environment
        ? 'does not have environment defined'
        : other.environment.name !== name
          ? 'have different environment name'
          : other.environment.action !== 'stop'
            ? 'needs to have action stop defined'
            : null
    if (fault) this.#say(job, 'environment', `${job.name} job: on_stop job ${on_stop} ${fault}`)
  }
}

/** The position of a key of a job, or else of the job. */
export function markOfJob(root: Mapping, name: string, key: string): Mark | undefined {
  const entry = root[name]
  return (isMapping(entry) ? markOf(entry, key) : undefined) ?? markOf(root, name)
}

const neededBy = (needs: readonly Need[] | null): string[] =>
  (needs ?? []).flatMap((need) => (need.kind === 'job' ? [need.job] : []))

/** Removes jobs without needs until none is left to remove. The remaining jobs contain a cycle. */
export function circleIn(needs: ReadonlyMap<string, readonly string[]>): { name: string; message: string } | null {
  const waiting = new Map<string, number>()
  const neededFor = new Map<string, string[]>()
  for (const [name, names] of needs) {
    const others = names.filter((other) => needs.has(other))
    if (others.includes(name))
      return { name, message: `The pipeline has circular dependencies: self-dependency: ${name}` }
    waiting.set(name, others.length)
    for (const other of others) {
      const list = neededFor.get(other)
      if (list) list.push(name)
      else neededFor.set(other, [name])
    }
  }
  const free = [...waiting].filter(([, count]) => count === 0).map(([name]) => name)
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    waiting.delete(name)
    for (const other of neededFor.get(name) ?? []) {
      const count = waiting.get(other)! - 1
      waiting.set(other, count)
      if (count === 0) free.push(other)
    }
  }
  const [first] = waiting.keys()
  if (first === undefined) return null
  // Each remaining job needs another remaining job, so following the needs ends in the cycle.
  const trail = new Set<string>()
  let at = first
  while (!trail.has(at)) {
    trail.add(at)
    at = needs.get(at)!.find((other) => waiting.has(other))!
  }
  const circle = [...trail].slice([...trail].indexOf(at))
  const shown = JSON.stringify(circle.slice(0, 20)).replaceAll('","', '", "')
  return { name: at, message: `The pipeline has circular dependencies: topological sort failed: ${shown}` }
}
