/** Compiles a configuration to plain data, so that a worker thread can do the work. */
import type { Ask } from '../../lib/threads/thread.ts'
import { check, compile } from './compile.ts'
import type { Context, Include, IncludeAnswer, Included, Tree } from './context.ts'
import type { Fault } from './faults.ts'
import type { JobDefinition } from './jobs.ts'
import type { Plan } from './plan.ts'

export interface ReportOptions {
  /** Compiles a plan. If false, only errors are reported. */
  readonly plan: boolean
  /** Includes the merged file and its jobs, for users who validate a configuration. */
  readonly details: boolean
}

export type JobOutline = Pick<
  JobDefinition,
  | 'name'
  | 'stage'
  | 'before_script'
  | 'script'
  | 'after_script'
  | 'tags'
  | 'environment'
  | 'when'
  | 'allow_failure'
  | 'needs'
  | 'only'
  | 'except'
>

export interface Report {
  readonly errors: readonly Fault[]
  readonly warnings: readonly string[]
  readonly includes: readonly Included[]
  readonly merged: string | null
  readonly jobs: readonly JobOutline[]
  /** Null with errors, or if no plan was requested. */
  readonly plan: Plan | null
}

/** The list is cut at the maximum number of jobs in a pipeline. */
const MOST_OUTLINES = 1000

export async function reportOn(text: string, context: Context, options: ReportOptions): Promise<Report> {
  const checked = options.plan ? await compile(text, context) : { ...(await check(text, context)), plan: null }
  const { errors, warnings, includes, definition, plan } = checked
  const jobs = options.details ? [...(definition?.jobs.values() ?? [])].slice(0, MOST_OUTLINES).map(outlineOf) : []
  return { errors, warnings, includes, plan, jobs, merged: options.details ? checked.merged() : null }
}

const outlineOf = (job: JobDefinition): JobOutline => ({
  name: job.name,
  stage: job.stage,
  before_script: job.before_script,
  script: job.script,
  after_script: job.after_script,
  tags: job.tags,
  environment: job.environment,
  when: job.when,
  allow_failure: job.allow_failure,
  needs: job.needs,
  only: job.only,
  except: job.except,
})

type Asking = Pick<Context, 'changedPaths' | 'paths' | 'readInclude'>

type Question =
  | { readonly kind: 'changedPaths'; readonly compareTo: string | null }
  | { readonly kind: 'paths'; readonly tree: Parameters<Context['paths']>[0] }
  | { readonly kind: 'readInclude'; readonly include: Include; readonly from: Tree | null }

export interface Task {
  readonly text: string
  readonly context: Omit<Context, keyof Asking>
  readonly options: ReportOptions
}

export function taskOf(text: string, context: Context, options: ReportOptions): Task {
  const { changedPaths: _changedPaths, paths: _paths, readInclude: _readInclude, ...data } = context
  return { text, context: data, options }
}

/** Runs in the thread, and asks the main thread for everything that only that one knows. */
export function perform({ text, context, options }: Task, ask: Ask): Promise<Report> {
  const askFor = <T>(question: Question) => ask(question) as Promise<T>
  const asking: Asking = {
    changedPaths: (compareTo) => askFor<readonly string[] | null>({ kind: 'changedPaths', compareTo }),
    paths: (tree) => askFor<readonly string[] | null>({ kind: 'paths', tree }),
    readInclude: (include, from) => askFor<IncludeAnswer>({ kind: 'readInclude', include, from }),
  }
  return reportOn(text, { ...context, ...asking }, options)
}

export function answerFrom(context: Asking): Ask {
  return (data) => {
    const question = data as Question
    if (question.kind === 'changedPaths') return context.changedPaths(question.compareTo)
    if (question.kind === 'paths') return context.paths(question.tree)
    return context.readInclude(question.include, question.from)
  }
}
