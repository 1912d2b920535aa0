/** Compiles short configurations on the serving thread and long ones in worker threads. */
import type { Context, IncludeAnswer } from '../../../ci/config/context.ts'
import { answerFrom, reportOn, taskOf, type Report, type ReportOptions } from '../../../ci/config/report.ts'
import type { App } from '../../../context.ts'
import { OutOfTime } from '../../../lib/threads/errors.ts'
import { ThreadPool } from '../../../lib/threads/pool.ts'
import type { Ask } from '../../../lib/threads/thread.ts'

/** Characters of a configuration with all includes. Compiling that many takes about ten milliseconds at most. */
const SHORT = 16_384

const TAKES_TOO_LONG: Report = {
  errors: [{ message: 'The configuration takes too long to compile' }],
  warnings: [],
  includes: [],
  merged: null,
  jobs: [],
  plan: null,
}

/** Milliseconds of CPU time. */
const DEADLINE = 10_000

/** A pool apart from the one that renders texts and pages, because a configuration may wait for its includes. */
const compiling = new ThreadPool({
  threads: 2,
  perCaller: 1,
  waitingPerCaller: 20,
  waitingInAll: 200,
  patience: 30_000,
  idle: 10_000,
})

// Next to the source file, or in the folder of the bundle.
const MODULE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../ci/config/report.ts' : './ci-report.js',
  import.meta.url,
)

export async function compileConfiguration(
  app: App,
  text: string,
  original: Context,
  reportOptions: ReportOptions,
): Promise<Report> {
  const context = readingOnce({ ...original, caller: app.caller })
  return (await compileHere(text, context, reportOptions)) ?? compileInThread(app, text, context, reportOptions)
}

/** Caches includes: a configuration that is compiled first here and then in a thread reads them once. */
function readingOnce(context: Context): Context {
  const known = new Map<string, Promise<IncludeAnswer>>()
  return {
    ...context,
    readInclude(include, from) {
      const key = JSON.stringify([include, from])
      const answer = known.get(key) ?? context.readInclude(include, from)
      known.set(key, answer)
      return answer
    },
  }
}

class TooLong extends Error {}

/** Null as soon as the text and its includes exceed `SHORT`. */
async function compileHere(text: string, context: Context, reportOptions: ReportOptions): Promise<Report | null> {
  let left = SHORT - text.length
  if (left < 0) return null
  const readInclude: Context['readInclude'] = async (include, from) => {
    const answer = await context.readInclude(include, from)
    if ('text' in answer) left -= answer.text.length
    if (left < 0) throw new TooLong()
    return answer
  }
  try {
    return await reportOn(text, { ...context, readInclude }, reportOptions)
  } catch (error) {
    if (error instanceof TooLong) return null
    throw error
  }
}

async function compileInThread(
  app: App,
  text: string,
  context: Context,
  reportOptions: ReportOptions,
): Promise<Report> {
  const reading = keepingFaults(answerFrom(context))
  try {
    const options = { caller: app.caller, deadline: DEADLINE, answer: reading.answer }
    return await compiling.run<Report>(MODULE, taskOf(text, context, reportOptions), options)
  } catch (error) {
    if (error instanceof OutOfTime) return TAKES_TOO_LONG
    throw reading.fault ?? error
  }
}

/** The thread gets only the message of an error. The caller that waits for the thread gets the error itself. */
function keepingFaults(answer: Ask): { readonly answer: Ask; readonly fault: unknown } {
  let fault: unknown = null
  return {
    answer: (question) =>
      answer(question).catch((error: unknown) => {
        fault ??= error
        throw error
      }),
    get fault() {
      return fault
    },
  }
}
