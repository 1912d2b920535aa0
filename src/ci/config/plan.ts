/** Computes the jobs of one pipeline: evaluates rules, expands parallel jobs and resolves needs. */
import { pauses } from '../../lib/async/pauses.ts'
import { tooLong } from '../../lib/text/faults.ts'
import type { Context } from './context.ts'
import { circleIn, markOfJob, type Definition } from './definition.ts'
import type { AllowFailure } from './failures.ts'
import { withInputs } from './job-inputs.ts'
import type { JobDefinition } from './jobs.ts'
import type { Need } from './needs.ts'
import { combinations } from './parallel.ts'
import type { Patterns } from './patterns.ts'
import { isAdmitted } from './policies.ts'
import { firstMatch, type Ground, type Rule, type When } from './rules.ts'
import { ConfigFault, tooBig, type Mapping } from './tree.ts'
import type { AutoCancel } from './workflow.ts'
import { Scope, valuesOf } from './variables.ts'
import type { YamlVariable } from './yaml-variables.ts'

/** One job of the pipeline as plain data, to store and send. */
export interface PlannedJob extends Omit<
  JobDefinition,
  'rules' | 'only' | 'except' | 'parallel' | 'when' | 'needs' | 'allow_failure' | 'inputs'
> {
  /** The name in the file, which parallel jobs share. */
  readonly group: string
  readonly stage_index: number
  readonly when: When
  readonly allow_failure: AllowFailure
  /** Null: the job waits for all earlier stages. */
  readonly needs: readonly PlannedNeed[] | null
  /** Starts at one. */
  readonly parallel: { readonly index: number; readonly total: number } | null
  readonly matrix: Readonly<Record<string, string>> | null
}

export type PlannedNeed =
  | { readonly kind: 'job'; readonly job: string; readonly artifacts: boolean; readonly optional: boolean }
  | Exclude<Need, { kind: 'job' }>

export interface Plan {
  /** The workflow rules prevent the pipeline. */
  readonly is_refused: boolean
  readonly name: string | null
  readonly auto_cancel: AutoCancel
  readonly stages: readonly string[]
  /** Variables of the file and of the workflow rule. `inherit_variables` of a job selects from them. */
  readonly variables: readonly YamlVariable[]
  /** By stage, then in the order of the file. */
  readonly jobs: readonly PlannedJob[]
  /** Names in the file that have no job in this plan. */
  readonly left_out: readonly string[]
  /** The reasons, in the same order. */
  readonly left_out_why?: readonly Why[]
}

/** No rule matches; a rule matches with `never`; `only` and `except`; the workflow; no other job runs. */
export type Why = 'no_rule' | 'never' | 'only' | 'workflow' | 'alone'

const MOST_JOBS = 500
const LONGEST_NAME = 255
/** The limit of parallel jobs whose rules are evaluated, and of matrix values that needs compare. */
const MOST_EVALUATIONS = 50_000
/** The limit for all jobs together, in characters. */
const LARGEST_PLAN = 20 * 1024 * 1024

/** `root` is the value from which the definition was read. */
export async function makePlan(
  root: Mapping,
  definition: Definition,
  context: Context,
  patterns: Patterns,
): Promise<Plan> {
  return new Planning(root, definition, context, patterns).plan()
}

class Planning {
  readonly #root: Mapping
  readonly #definition: Definition
  readonly #context: Context
  readonly #patterns: Patterns
  readonly #mostJobs: number
  readonly #stages: ReadonlyMap<string, number>
  readonly #predefined: ReadonlyMap<string, string>
  readonly #settings: ReadonlyMap<string, string>
  #evaluations = 0

  constructor(root: Mapping, definition: Definition, context: Context, patterns: Patterns) {
    this.#root = root
    this.#definition = definition
    this.#context = context
    this.#patterns = patterns
    this.#mostJobs = context.limits?.jobs ?? MOST_JOBS
    this.#stages = new Map(definition.stages.map((stage, n) => [stage, n]))
    this.#predefined = valuesOf(context.predefined)
    this.#settings = valuesOf(context.variables)
  }

  async plan(): Promise<Plan> {
    const { stages, workflow } = this.#definition
    const chosen = await this.#workflowRule()
    const variables = withOver(this.#definition.variables, chosen?.variables ?? [])
    const scope = this.#scopeWith(variables)
    const about = {
      name: workflow.name === null ? null : scope.expand(workflow.name).slice(0, 255) || null,
      auto_cancel: {
        on_new_commit: chosen?.auto_cancel?.on_new_commit ?? workflow.auto_cancel?.on_new_commit ?? null,
        on_job_failure: chosen?.auto_cancel?.on_job_failure ?? workflow.auto_cancel?.on_job_failure ?? null,
      },
      stages,
      variables,
    }
    const isRefused = workflow.rules !== null && (chosen === null || chosen.when === 'never')
    if (isRefused) return { ...about, is_refused: true, jobs: [], ...this.#without('workflow') }
    const { made, leftOut } = await this.#chooseJobs(variables)
    // `.pre` and `.post` alone make no pipeline.
    if (made.every(({ stage }) => stage === '.pre' || stage === '.post'))
      return { ...about, is_refused: false, jobs: [], ...this.#without('alone', leftOut) }
    return { ...about, is_refused: false, jobs: this.#named(made), ...withWhy([...leftOut]) }
  }

  #without(why: Why, known: ReadonlyMap<string, Why> = new Map()) {
    return withWhy(Array.from(this.#definition.jobs.keys(), (name) => [name, known.get(name) ?? why]))
  }

  #scopeWith(variables: readonly YamlVariable[]): Scope {
    return new Scope([this.#settings, valuesOf(variables), this.#predefined])
  }

  #workflowRule(): Promise<Rule | null> | null {
    const { workflow, variables } = this.#definition
    return workflow.rules && firstMatch(workflow.rules, this.#ground(this.#scopeWith(variables)))
  }

  #ground = (scope: Scope): Ground => ({ context: this.#context, scope, patterns: this.#patterns })

  async #chooseJobs(variables: readonly YamlVariable[]): Promise<{ made: PlannedJob[]; leftOut: Map<string, Why> }> {
    const pause = pauses()
    const values = valuesOf(variables)
    const made: PlannedJob[] = []
    const leftOut = new Map<string, Why>()
    const taken = new Set<string>()
    const sizes = new Map<object, number>()
    let size = 0
    for (const job of this.#definition.jobs.values()) {
      const before = made.length
      const inherited = inheritedBy(job, values)
      let why: Why = 'no_rule'
      for await (const one of this.#instances(job, inherited)) {
        if (typeof one === 'string') {
          why = one
          continue
        }
        // A matrix may contain the same combination twice.
        if (taken.has(one.name)) continue
        if (one.name.length > LONGEST_NAME)
          throw new ConfigFault(
            `jobs:${job.name} name ${tooLong(LONGEST_NAME)}`,
            markOfJob(this.#root, job.name, 'parallel'),
          )
        taken.add(one.name)
        made.push(one)
        // Measured as stored: with the variables of the whole file.
        size += sizeOf({ ...one, variables: fileVariables({ variables }, one) }, sizes)
        if (made.length > this.#mostJobs)
          throw new ConfigFault(`The number of jobs has exceeded the limit of ${this.#mostJobs}`)
        if (size > LARGEST_PLAN) throw tooBig()
      }
      if (made.length === before) leftOut.set(job.name, why)
      await pause()
    }
    return { made: made.toSorted((a, b) => a.stage_index - b.stage_index), leftOut }
  }

  async *#instances(job: JobDefinition, inherited: ReadonlyMap<string, string>): AsyncGenerator<PlannedJob | Why> {
    const { parallel } = job
    const own = valuesOf(job.variables)
    const ask = (more: ReadonlyMap<string, string>) => {
      if (++this.#evaluations > MOST_EVALUATIONS) throw tooBig()
      return this.#decide(job, new Scope([this.#settings, more, own, inherited, this.#predefined]))
    }
    if (!parallel || !('rows' in parallel)) {
      const decision = await ask(new Map())
      if (typeof decision === 'string') return yield decision
      const total = parallel?.total ?? 0
      const filled = await this.#filled(job)
      if (!parallel) yield this.#made(filled, decision, { name: job.name, parallel: null, matrix: null })
      for (let index = 1; index <= total; index++)
        yield this.#made(filled, decision, {
          name: `${job.name} ${index}/${total}`,
          parallel: { index, total },
          matrix: null,
        })
      return
    }
    let index = 0
    let filled: JobDefinition | null = null
    for (const chosen of combinations(parallel)) {
      index++
      const decision = await ask(chosen)
      const name = `${job.name}: [${[...chosen.values()].join(', ')}]`
      if (typeof decision === 'string') {
        yield decision
        continue
      }
      filled ??= await this.#filled(job)
      yield this.#made(filled, decision, {
        name,
        parallel: { index, total: parallel.total },
        matrix: Object.fromEntries(chosen),
      })
    }
  }

  /** Fills inputs only of jobs that run, because the limit of the plan bounds their size. */
  #filled(job: JobDefinition): Promise<JobDefinition> {
    return withInputs(job, this.#patterns, markOfJob(this.#root, job.name, 'inputs'))
  }

  /** The rule that decides, an empty rule if the job has none, or the reason why the job is left out. */
  async #decide(job: JobDefinition, scope: Scope): Promise<Partial<Rule> | Why> {
    const ground = this.#ground(scope)
    if (!job.rules) return (await isAdmitted(job.only, job.except, ground)) ? {} : 'only'
    const rule = await firstMatch(job.rules, ground)
    if (rule === null) return 'no_rule'
    return rule.when === 'never' ? 'never' : rule
  }

  #made(
    { rules: _rules, only: _only, except: _except, inputs: _inputs, ...job }: JobDefinition,
    rule: Partial<Rule>,
    one: Pick<PlannedJob, 'name' | 'parallel' | 'matrix'>,
  ): PlannedJob {
    const chosen = Object.entries(one.matrix ?? {}).map(([key, value]) => ({ key, value, expand: true }))
    return {
      ...job,
      ...one,
      group: job.name,
      stage_index: this.#stages.get(job.stage) ?? 0,
      when: rule.when && rule.when !== 'never' ? rule.when : job.when,
      start_in: rule.when ? (rule.start_in ?? null) : job.start_in,
      // A manual job may fail by default. A job that a rule makes manual blocks the pipeline.
      allow_failure: rule.allow_failure ?? job.allow_failure ?? job.when === 'manual',
      interruptible: rule.interruptible ?? job.interruptible,
      variables: withOver(withOver(job.variables, chosen), rule.variables ?? []),
      // Resolved to names once all jobs are known.
      needs: (rule.needs ?? job.needs) as PlannedJob['needs'],
    }
  }

  /** Resolves needs and dependencies to names of existing jobs. */
  #named(made: readonly PlannedJob[]): PlannedJob[] {
    const groups = Map.groupBy(made, ({ group }) => group)
    const named: PlannedJob[] = []
    for (const job of made) {
      const needs: PlannedNeed[] = []
      for (const need of (job.needs ?? []) as Need[]) {
        if (need.kind !== 'job') {
          needs.push(need)
          continue
        }
        const { artifacts, optional } = need
        const chosen = this.#chosenFor(job, need)
        const found = (groups.get(need.job) ?? []).filter((other) => isChosen(other, chosen))
        if (found.length === 0 && !optional)
          throw this.#fault(
            job.group,
            `'${job.name}' job needs '${need.job}' job, but '${need.job}' does not exist in the pipeline. This might be because of the only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.`,
          )
        for (const { name } of found) needs.push({ kind: 'job', job: name, artifacts, optional })
      }
      const from = job.dependencies && [...new Set(job.dependencies)]
      const dependencies = from && from.flatMap((name) => (groups.get(name) ?? []).map((other) => other.name))
      named.push({ ...job, needs: job.needs && needs, dependencies })
    }
    const circle = circleIn(new Map(named.map((job) => [job.name, namesOf(job.needs)])))
    if (circle) throw this.#fault(named.find(({ name }) => name === circle.name)!.group, circle.message)
    return named
  }

  /** `$[[ matrix.OS ]]` means the value of the job itself. */
  #chosenFor({ group, matrix: own }: PlannedJob, { matrix }: Extract<Need, { kind: 'job' }>): Choice {
    if (!matrix?.some((row) => Object.values(row).some((values) => values.some((text) => text.includes('$[[')))))
      return matrix
    const filled = (text: string) => {
      if (++this.#evaluations > MOST_EVALUATIONS) throw tooBig()
      return text.replace(/\$\[\[\s*matrix\.(\w+)\s*\]\]/g, (_, name: string) => {
        if (own && Object.hasOwn(own, name)) return own[name]!
        const what = 'matrix expression references an unknown identifier'
        throw this.#fault(group, `jobs:${group}:needs ${what}: ${name.slice(0, 255)}`)
      })
    }
    return matrix.map((row) =>
      Object.fromEntries(Object.entries(row).map(([key, values]) => [key, values.map(filled)])),
    )
  }

  #fault = (group: string, message: string) => new ConfigFault(message, markOfJob(this.#root, group, 'needs'))
}

const withWhy = (left: readonly (readonly [string, Why])[]) => ({
  left_out: left.map(([name]) => name),
  ...(left.length > 0 && { left_out_why: left.map(([, why]) => why) }),
})

const namesOf = (needs: readonly PlannedNeed[] | null) =>
  (needs ?? []).flatMap((need) => (need.kind === 'job' ? [need.job] : []))

type Choice = Extract<Need, { kind: 'job' }>['matrix']

function isChosen({ matrix }: PlannedJob, choice: Choice): boolean {
  if (!choice) return true
  return choice.some((row) => Object.entries(row).every(([key, values]) => values.includes(matrix?.[key] ?? '')))
}

/** Later variables win, and take the position of the earlier ones. */
function withOver(base: readonly YamlVariable[], over: readonly YamlVariable[]): readonly YamlVariable[] {
  if (over.length === 0) return base
  return [...new Map([...base, ...over].map((variable) => [variable.key, variable])).values()]
}

function inheritedBy({ inherit_variables: inherited }: JobDefinition, values: ReadonlyMap<string, string>) {
  if (typeof inherited === 'boolean') return inherited ? values : new Map<string, string>()
  return new Map(inherited.flatMap((key) => (values.has(key) ? [[key, values.get(key)!] as const] : [])))
}

/** The variables that the file gives a job: those of the whole file, then its own. */
export function fileVariables(plan: Pick<Plan, 'variables'>, job: PlannedJob): readonly YamlVariable[] {
  const inherited = job.inherit_variables
  const names = typeof inherited === 'boolean' ? null : new Set(inherited)
  const of = names ? plan.variables.filter(({ key }) => names.has(key)) : inherited ? plan.variables : []
  return withOver(of, job.variables)
}

/** The approximate size as text. Parts that jobs share are measured once. */
function sizeOf(value: unknown, known: Map<object, number>): number {
  if (typeof value === 'string') return value.length + 3
  if (typeof value !== 'object' || value === null) return 5
  const before = known.get(value)
  if (before !== undefined) return before
  let size = 2
  for (const [key, item] of Object.entries(value)) size += key.length + 4 + sizeOf(item, known)
  known.set(value, size)
  return size
}
