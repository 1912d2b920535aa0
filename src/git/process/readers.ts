/**
 * A pool of open `git cat-file` processes. Each repository in use has at most one, which many callers share. The total
 * never exceeds `MAX_READERS`: a caller that needs one more waits until the least recently used one ends. A reader ends
 * after some idle seconds, keeps this process alive only while an answer is pending, and is replaced if it dies. An
 * open reader sees new pushes, because git looks for new packs before it reports an object as missing.
 */
import type { Program } from './launcher.ts'
import { endGroup, GitFailed, startGit, type FailureReason } from './command.ts'

export const MAX_READERS = 16
const IDLE_MS = 10_000
const DEADLINE_MS = 30_000
const MAX_STDERR = 4096

export interface Question {
  readonly verb: 'info' | 'contents'
  readonly name: string
}

export interface Answer {
  readonly id: string
  readonly type: string
  readonly size: number
  readonly content: Buffer | null
}

interface Inquiry {
  readonly questions: readonly Question[]
  readonly answers: (Answer | null)[]
  readonly resolve: (answers: (Answer | null)[]) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout
}

const shared = new Map<string, Reader>()
/** All readers with a process, least recently used first. */
const running = new Set<Reader>()
const queue: Reader[] = []

type Environment = Readonly<Record<string, string>>
export type Ask = (questions: readonly Question[]) => Promise<(Answer | null)[]>

/** Asks the shared reader of the repository. */
export async function askShared(dir: string, questions: readonly Question[]): Promise<(Answer | null)[]> {
  if (questions.length === 0) return []
  let reader = shared.get(dir)
  if (!reader) shared.set(dir, (reader = new Reader(dir)))
  try {
    return await reader.ask(questions)
  } catch (error) {
    if (!(error instanceof GitFailed) || error.reason !== 'exit') throw error
    // The reader died because of this question or another one. A separate reader shows which.
    return askAlone(dir, {}, (ask) => ask(questions))
  }
}

/** Uses a separate reader, which may see more objects: those in quarantine. */
export async function askAlone<T>(dir: string, environment: Environment, use: (ask: Ask) => Promise<T>): Promise<T> {
  const reader = new Reader(dir, environment)
  try {
    return await use((questions) => reader.ask(questions))
  } finally {
    reader.finish()
  }
}

/**
 * Closes the readers of a repository that is about to be deleted or to change its alternates, or all readers when the
 * program ends. Pending questions are still answered.
 */
export function closeReaders(dir?: string): void {
  const closing = dir === undefined ? [...shared.values()] : [shared.get(dir)]
  for (const reader of closing) reader?.finish()
}

class Reader {
  readonly #dir: string
  readonly #environment: Environment
  readonly #inquiries: Inquiry[] = []
  #child: Program | undefined
  #isFinished = false
  #idle: NodeJS.Timeout | undefined
  #reason: FailureReason = 'exit'
  #stderr = ''
  #unsent = ''
  #chunks: Buffer[] = []
  #received = 0
  /** Parsing waits for this number of bytes. */
  #needed = 1

  constructor(dir: string, environment: Environment = {}) {
    this.#dir = dir
    this.#environment = environment
  }

  ask(questions: readonly Question[]): Promise<(Answer | null)[]> {
    if (questions.length === 0) return Promise.resolve([])
    const { promise, resolve, reject } = Promise.withResolvers<(Answer | null)[]>()
    const timer = setTimeout(() => this.#end('deadline'), DEADLINE_MS)
    this.#inquiries.push({ questions, answers: [], resolve, reject, timer })
    clearTimeout(this.#idle)
    if (!this.#child) admit(this)
    else {
      running.delete(this)
      running.add(this)
      this.#send(questions)
    }
    return promise
  }

  /** Takes no more questions. The slot is free once all pending questions are answered. */
  finish(): void {
    if (this.#isFinished) return
    this.#isFinished = true
    clearTimeout(this.#idle)
    if (shared.get(this.#dir) === this) shared.delete(this.#dir)
    this.#flush()
    this.#child?.stdin?.end()
  }

  get isFinished(): boolean {
    return this.#isFinished
  }

  start(): void {
    const child = startGit(this.#dir, ['cat-file', '--batch-command', '--buffer'], {
      environment: this.#environment,
      // Git would search all other namespaces for a found name only to warn about ambiguity.
      config: { 'core.warnAmbiguousRefs': 'false' },
    })
    this.#child = child
    child.stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-MAX_STDERR)
    })
    child.stdin?.on('error', () => {})
    child.once('error', (error) => {
      this.#reason = 'start'
      this.#stderr = error.message
    })
    child.once('close', (code) => this.#close(code))
    for (const { questions } of this.#inquiries) this.#send(questions)
    if (!this.#isFinished) return
    this.#flush()
    child.stdin?.end()
  }

  /** Sends all questions of one tick in one write, because writing and waking git costs more than the answers. */
  #send(questions: readonly Question[]): void {
    if (this.#unsent === '') setImmediate(() => this.#flush())
    for (const { verb, name } of questions) this.#unsent += `${verb} ${name}\n`
  }

  #flush(): void {
    if (this.#unsent === '' || !this.#child) return
    this.#child.hold(true)
    this.#child.stdin?.write(`${this.#unsent}flush\n`)
    this.#unsent = ''
  }

  #receive(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#received += chunk.length
    if (this.#received < this.#needed) return
    let rest = Buffer.concat(this.#chunks)
    for (let taken = this.#take(rest); taken > 0; taken = this.#take(rest)) rest = rest.subarray(taken)
    this.#chunks = [rest]
    this.#received = rest.length
  }

  /** Parses one answer from the start and returns its length. 0 while it is incomplete. */
  #take(bytes: Buffer): number {
    const inquiry = this.#inquiries[0]
    if (!inquiry) return 0
    const end = bytes.indexOf(10)
    this.#needed = bytes.length + 1
    if (end < 0) return 0
    const found = /^([0-9a-f]+) (\w+) (\d+)$/.exec(bytes.toString('latin1', 0, end))
    const size = Number(found?.[3] ?? 0)
    const isWhole = found !== null && inquiry.questions[inquiry.answers.length]?.verb === 'contents'
    const length = end + 1 + (isWhole ? size + 1 : 0)
    this.#needed = length
    if (bytes.length < length) return 0
    this.#needed = 1
    const content = isWhole ? bytes.subarray(end + 1, end + 1 + size) : null
    inquiry.answers.push(found && { id: found[1]!, type: found[2]!, size, content })
    if (inquiry.answers.length === inquiry.questions.length) this.#answered(inquiry)
    return length
  }

  #answered({ resolve, answers, timer }: Inquiry): void {
    this.#inquiries.shift()
    clearTimeout(timer)
    resolve(answers)
    if (this.#inquiries.length > 0) return
    this.#child?.hold(false)
    if (!this.#isFinished) this.#idle = setTimeout(() => this.finish(), IDLE_MS).unref()
  }

  #end(reason: FailureReason): void {
    this.#reason = reason
    this.finish()
    if (this.#child) endGroup(this.#child)
    else this.#close(null)
  }

  #close(code: number | null): void {
    this.finish()
    for (const { reject, timer } of this.#inquiries.splice(0)) {
      clearTimeout(timer)
      reject(new GitFailed('cat-file', this.#reason, this.#reason === 'exit' ? code : null, this.#stderr.trim()))
    }
    leave(this)
  }
}

function admit(reader: Reader): void {
  if (queue.includes(reader)) return
  if (running.size < MAX_READERS) {
    running.add(reader)
    reader.start()
  } else queue.push(reader)
  evictOldest()
}

/** Closes as many readers as callers wait for, least recently used first. */
function evictOldest(): void {
  const staying = [...running].filter((reader) => !reader.isFinished)
  const going = running.size - staying.length
  for (const reader of staying.slice(0, Math.max(0, queue.length - going))) reader.finish()
}

function leave(reader: Reader): void {
  const index = queue.indexOf(reader)
  if (index >= 0) queue.splice(index, 1)
  if (!running.delete(reader)) return
  const next = queue.shift()
  if (next) admit(next)
}
