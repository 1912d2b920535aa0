/** One thread, from its owner's side. */
import { Worker } from 'node:worker_threads'
import { OutOfTime } from './errors.ts'
import type { Answer, Ask, Message, Order, Reply } from './thread.ts'

export interface PerformOptions {
  /** Milliseconds of work. */
  readonly deadline: number
  /** Answers questions of the running task. */
  readonly answer?: Ask | undefined
}

export interface Thread {
  /** One task at a time. After a failure of the thread itself it is dead. */
  perform(module: string, input: unknown, options: PerformOptions): Promise<unknown>
  isAlive(): boolean
  end(): void
}

const MEMORY_MB = 512
/** Time limit of a start, which is not part of the work. */
const LONGEST_START = 60_000

export function startThread(): Thread {
  // Next to this file as a source, in the folder of the bundle otherwise.
  const file = import.meta.url.endsWith('.ts') ? './thread.ts' : './rendering-thread.js'
  const worker = new Worker(new URL(file, import.meta.url), {
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  })
  const loaded = new Set<string>()
  let isAlive = true
  const end = () => {
    isAlive = false
    void worker.terminate()
  }
  const order = async (order: Order, options: PerformOptions): Promise<unknown> => {
    const reply = await replyOf(worker, order, options).catch((error: unknown) => {
      end()
      throw error
    })
    if ('fault' in reply) throw new Error(reply.fault)
    return reply.result
  }
  return {
    async perform(module, input, options) {
      worker.ref()
      try {
        if (!loaded.has(module)) await order({ module }, { deadline: LONGEST_START })
        loaded.add(module)
        return await order({ module, input }, options)
      } finally {
        worker.unref()
      }
    },
    isAlive: () => isAlive,
    end,
  }
}

const noAnswer: Ask = () => Promise.reject(new Error('nobody answers'))

async function replyOf(worker: Worker, order: Order, { deadline, answer = noAnswer }: PerformOptions): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const receive = (message: Message) => {
    if (!('question' in message)) return resolve(message)
    const answerTo = message.number
    const reply = (given: Omit<Answer, 'answerTo'>) => worker.postMessage({ answerTo, ...given } satisfies Answer)
    answer(message.question).then(
      (answer) => reply({ answer }),
      (error: unknown) => reply({ fault: String(error) }),
    )
  }
  const fail = (error: NodeJS.ErrnoException) =>
    reject(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new OutOfTime('too much memory') : error)
  const exit = () => reject(new Error('the thread has ended'))
  worker.on('message', receive).on('error', fail).on('exit', exit)
  const watch = watchEffort(worker, deadline, () => reject(new OutOfTime('out of time')))
  try {
    worker.postMessage(order)
    return await promise
  } finally {
    watch.end()
    worker.off('message', receive).off('error', fail).off('exit', exit)
  }
}

/** On a busy machine a thread may wait for the processor so many times as long as it works. */
const MOST_WAITING = 10
const SHORTEST_LOOK = 10

/** The deadline applies to the thread's own CPU time, so that it does not depend on the load of the machine. */
function watchEffort(worker: Worker, deadline: number, expire: () => void): { end(): void } {
  const startedAt = performance.now()
  const before = effortOf(worker)
  let timer: NodeJS.Timeout | undefined
  let hasEnded = false
  const lookIn = (ms: number) => {
    if (!hasEnded) timer = setTimeout(() => void look(), Math.max(ms, SHORTEST_LOOK))
  }
  const look = async () => {
    const effort = (await effortOf(worker)) - (await before)
    if (effort >= deadline || performance.now() - startedAt >= MOST_WAITING * deadline) expire()
    else lookIn(deadline - effort)
  }
  lookIn(deadline)
  return {
    end() {
      hasEnded = true
      clearTimeout(timer)
    },
  }
}

/** Milliseconds of CPU time. Older versions of Node do not report it. */
async function effortOf(worker: Worker): Promise<number> {
  const usage = await worker.cpuUsage?.().catch(() => null)
  return usage ? (usage.user + usage.system) / 1000 : performance.now()
}
