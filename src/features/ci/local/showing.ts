/** The terminal output of a check and of a run. */
import { stripVTControlCharacters } from 'node:util'
import type { Compiled } from '../../../ci/config/compile.ts'
import type { Fault } from '../../../ci/config/faults.ts'
import type { Plan, PlannedJob, Why } from '../../../ci/config/plan.ts'
import type { Display, RanJob } from './pipeline.ts'

export const lineOfFault = ({ message, file, line, column }: Fault): string =>
  file === undefined ? message : `${file}:${line ?? 1}:${column ?? 1}: ${message}`

const WHY: Record<Why, string> = {
  no_rule: 'no rule matches',
  never: 'a rule says never',
  only: 'only or except',
  workflow: 'the workflow wants no pipeline',
  alone: 'nothing is run before or after it',
}

/** Prints text from files on one line each, without terminal control characters. */
const plainly = (text: string) =>
  stripVTControlCharacters(text).replace(/\p{Cc}/gu, (char) => (char === '\n' ? ' ' : '?'))

export function planLines(plan: Plan, about: string): string[] {
  const { jobs } = plan
  const stages = plan.stages.filter((stage) => jobs.some((job) => job.stage === stage))
  const width = Math.max(0, ...jobs.map(({ name }) => name.length)) + 2
  const rows = stages.flatMap((stage) => [
    stage,
    ...jobs
      .filter((job) => job.stage === stage)
      .map((job) => `  ${job.name.padEnd(width)}${factsOf(job).join(', ')}`.trimEnd()),
  ])
  const leftOut = plan.left_out.map((name, n) => `${name}: ${whyOf(plan, n)}`)
  const head = plan.is_refused
    ? 'The workflow wants no pipeline'
    : jobs.length === 0
      ? 'The pipeline would have no jobs'
      : `${counted(jobs.length, 'job')} in ${counted(stages.length, 'stage')}`
  const named = plan.name === null ? '' : ` (${plan.name})`
  return [
    `${about}: ${head}${named}`,
    ...rows,
    ...(leftOut.length > 0 ? ['Left out', ...leftOut.map((one) => `  ${one}`)] : []),
  ].map(plainly)
}

const counted = (n: number, word: string) => `${n} ${word}${n === 1 ? '' : 's'}`

export const whyOf = ({ left_out_why: why = [] }: Plan, n: number): string => WHY[why[n] ?? 'no_rule']

function factsOf(job: PlannedJob): string[] {
  const needed = job.needs?.map((need) => {
    if (need.kind === 'job') return need.optional ? `${need.job} (optional)` : need.job
    return need.kind === 'project' ? `${need.job} of ${need.project}` : `pipeline ${need.pipeline}`
  })
  const { trigger } = job
  return [
    ...(job.when === 'on_success'
      ? []
      : [job.when === 'delayed' ? `after ${job.start_in} s` : job.when.replace('_', ' ')]),
    ...(job.allow_failure === true ? ['may fail'] : []),
    ...(typeof job.allow_failure === 'object' ? [`may end with ${job.allow_failure.exit_codes.join(', ')}`] : []),
    ...(needed ? [needed.length > 0 ? `needs ${needed.join(', ')}` : 'needs nothing'] : []),
    ...(trigger ? [trigger.include ? 'makes a child pipeline' : `triggers ${trigger.project}`] : []),
    ...(job.environment ? [`environment ${job.environment.name}`] : []),
  ]
}

/** Output as JSON, for programs. */
export function asJson({ errors, warnings, includes, plan }: Compiled): object {
  return {
    valid: errors.length === 0,
    errors,
    warnings,
    includes: includes.map(({ type, location }) => ({ type, location })),
    ...(plan && {
      is_refused: plan.is_refused,
      name: plan.name,
      stages: plan.stages,
      jobs: plan.jobs.map((job) => ({
        name: job.name,
        stage: job.stage,
        when: job.when,
        start_in: job.start_in,
        allow_failure: job.allow_failure,
        needs: job.needs,
        tags: job.tags,
        environment: job.environment?.name ?? null,
        trigger: job.trigger && { project: job.trigger.project, include: job.trigger.include },
      })),
      left_out: plan.left_out.map((name, n) => ({ name, why: whyOf(plan, n) })),
    }),
  }
}

/** Prefixes each line with the job name, because jobs run in parallel. */
export class Console implements Display {
  readonly #print: (text: string | Buffer) => void
  readonly #isPrefixed: boolean
  readonly #isColoured: boolean

  constructor(
    print: (text: string | Buffer) => void,
    { isPrefixed, isColoured }: { isPrefixed: boolean; isColoured: boolean },
  ) {
    this.#print = print
    this.#isPrefixed = isPrefixed
    this.#isColoured = isColoured
  }

  note(text: string): void {
    this.#print(`${plainly(text)}\n`)
  }

  /** Writes whole lines, so that output of another job never splits a line or a character. */
  openJob(name: string): ReturnType<Display['openJob']> {
    const prefix = this.#isPrefixed ? `${plainly(name)} | ` : ''
    if (!this.#isPrefixed) this.#print(`== ${plainly(name)}\n`)
    let rest: Buffer = Buffer.alloc(0)
    const show = (lines: Buffer) => {
      if (lines.length === 0) return
      const text = lines.toString('utf8')
      const shown = this.#isColoured ? text : stripVTControlCharacters(text)
      this.#print(prefix === '' ? shown : shown.replaceAll(/^(?=.|\n)/gm, () => prefix))
    }
    return {
      write: (chunk) => {
        const all = Buffer.concat([rest, chunk])
        const end = all.lastIndexOf(10) + 1
        show(all.subarray(0, end))
        rest = all.subarray(end)
      },
      end: () => show(rest.length > 0 ? Buffer.concat([rest, Buffer.from('\n')]) : rest),
    }
  }
}

/** The summary of a run. */
export function closingLines(jobs: readonly RanJob[], status: string): string[] {
  const rows = jobs.map(({ name, stage, status, isAllowed, seconds, note }) => [
    stage,
    name,
    status === 'failed' && isAllowed ? 'failed (allowed)' : status,
    seconds === null ? '' : `${seconds.toFixed(1)} s`,
    note,
  ])
  const widths = [0, 1, 2, 3, 4].map((n) => Math.max(0, ...rows.map((row) => row[n]!.length)))
  const lines = rows.map((row) =>
    row
      .map((cell, n) => cell.padEnd(widths[n]!))
      .join('  ')
      .trimEnd(),
  )
  return ['', ...lines.map(plainly), `Pipeline: ${status}`]
}
