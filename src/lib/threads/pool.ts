/**
 * Thread pool for work whose duration depends on user content. Each task has a deadline: a thread that exceeds it is
 * killed and replaced. Callers take turns, and each may use only a share of the threads, so a caller with many tasks
 * blocks nobody else. Threads start on demand and end when idle.
 */
import { anonymousShare, type LimitedCaller } from '../async/limiter.ts'
import { PoolFull } from './errors.ts'
import type { Ask } from './thread.ts'
import { startThread, type PerformOptions, type Thread } from './worker.ts'

export interface PoolLimits {
  readonly threads: number
  /** Threads per caller. */
  readonly perCaller: number
  readonly waitingPerCaller: number
  readonly waitingInAll: number
  /** Milliseconds that a task waits for a thread. */
  readonly patience: number
  /** Milliseconds after which an idle thread ends. */
  readonly idle: number
}

export interface TaskOptions {
  /** The waiting caller. Absent in background work, which waits without limit. */
  readonly caller?: LimitedCaller | undefined
  /** Milliseconds of work. */
  readonly deadline: number
  /** Answers questions of the running task. */
  readonly answer?: Ask
}

interface Task {
  readonly module: string
  readonly input: unknown
  readonly options: PerformOptions
  readonly caller: LimitedCaller
  resolve(result: unknown): void
  reject(error: unknown): void
  patience?: NodeJS.Timeout
}

const BACKGROUND: LimitedCaller = { key: 'background', isAnonymous: false }

export class ThreadPool {
  readonly #limits: PoolLimits
  /** Queues of waiting tasks in round-robin order: the caller served last is last. */
  readonly #queues = new Map<LimitedCaller['key'], Set<Task>>()
  readonly #running = new Map<LimitedCaller['key'], number>()
  readonly #idle = new Map<Thread, NodeJS.Timeout>()
  #waiting = 0
  #busy = 0
  #anonymous = 0

  constructor(limits: PoolLimits) {
    this.#limits = limits
  }

  /** The result of `perform(input, ask)` of the module; input and result must be cloneable. */
  run<T>(module: URL, input: unknown, { caller = BACKGROUND, ...options }: TaskOptions): Promise<T> {
    const queue = this.#queues.get(caller.key) ?? new Set()
    const { waitingPerCaller, waitingInAll, patience } = this.#limits
    if (caller !== BACKGROUND && (queue.size >= waitingPerCaller || this.#waiting >= waitingInAll))
      return Promise.reject(new PoolFull('too many tasks'))
    return new Promise((resolve, reject) => {
      const task: Task = { module: module.href, input, options, caller, resolve: resolve as never, reject }
      queue.add(task)
      this.#queues.set(caller.key, queue)
      this.#waiting++
      this.#startNext()
      if (caller === BACKGROUND || !queue.has(task)) return
      task.patience = setTimeout(() => {
        if (this.#remove(task)) reject(new PoolFull('waited too long'))
      }, patience).unref()
    })
  }

  #startNext(): void {
    while (this.#busy < this.#limits.threads) {
      const task = this.#nextTask()
      if (!task) return
      void this.#perform(task)
    }
  }

  #nextTask(): Task | null {
    for (const [key, queue] of this.#queues) {
      const [task] = queue
      if (!this.#hasCapacity(task!.caller)) continue
      this.#remove(task!)
      // Moves the caller to the end of the round.
      if (this.#queues.delete(key)) this.#queues.set(key, queue)
      return task!
    }
    return null
  }

  #hasCapacity({ key, isAnonymous }: LimitedCaller): boolean {
    if (isAnonymous && this.#anonymous >= anonymousShare(this.#limits.threads)) return false
    return (this.#running.get(key) ?? 0) < this.#limits.perCaller
  }

  #remove(task: Task): boolean {
    const queue = this.#queues.get(task.caller.key)
    if (!queue?.delete(task)) return false
    if (queue.size === 0) this.#queues.delete(task.caller.key)
    clearTimeout(task.patience)
    this.#waiting--
    return true
  }

  async #perform(task: Task): Promise<void> {
    this.#count(task.caller, 1)
    const thread = this.#takeThread()
    try {
      task.resolve(await thread.perform(task.module, task.input, task.options))
    } catch (error) {
      task.reject(error)
    } finally {
      this.#count(task.caller, -1)
      if (thread.isAlive()) this.#keep(thread)
      this.#startNext()
    }
  }

  #count({ key, isAnonymous }: LimitedCaller, by: 1 | -1): void {
    this.#busy += by
    if (isAnonymous) this.#anonymous += by
    const running = (this.#running.get(key) ?? 0) + by
    if (running > 0) this.#running.set(key, running)
    else this.#running.delete(key)
  }

  /** The most recently used thread, so that the others become idle and end. */
  #takeThread(): Thread {
    const kept = [...this.#idle].at(-1)
    if (!kept) return startThread()
    clearTimeout(kept[1])
    this.#idle.delete(kept[0])
    return kept[0]
  }

  #keep(thread: Thread): void {
    const end = () => {
      this.#idle.delete(thread)
      thread.end()
    }
    this.#idle.set(thread, setTimeout(end, this.#limits.idle).unref())
  }
}
