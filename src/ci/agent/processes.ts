/**
 * Runs the programs of a job, each in its own process group, and leaves no process behind. The group gets a request to
 * end and is then killed. Processes that left the group are found by a mark in their environment, if /proc is
 * available.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasProcessEnded, PROCESS_TAG, TAG_PATTERN } from '../../lib/async/process-tag.ts'
import { hasCode } from '../../lib/files/system-errors.ts'

export type Environment = Readonly<Record<string, string>>

/** Names the job and its agent. */
const MARK = 'MORTISE_JOB_MARK'
const GRACE_MS = 5000
/** Grace time for processes that are still alive when the program itself has ended. */
const LEFTOVER_GRACE_MS = 1000
/** Time to read the last output after the processes have ended. */
const PIPES_MS = 200
const POLL_MS = 20
/** In a container whose first process does not reap zombies, they never disappear. */
const LAST_WAIT_MS = 1000

export const makeMark = (): string => `${PROCESS_TAG}-${randomBytes(8).toString('hex')}`

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly environment: Environment
  readonly mark: string
  /** Receives stdout and stderr in order. A slow reader slows the program down. */
  readonly output: (chunk: Buffer) => Promise<void> | void
  readonly input?: string
  readonly signal?: AbortSignal | undefined
  /** The time between the request to end and the kill. */
  readonly graceMs?: number | undefined
}

/** The program cannot be started. */
export class NoProgram extends Error {
  override name = 'NoProgram'
}

/** Process groups that are running. */
const running = new Set<number>()

/** Returns the exit code like a shell: 128 plus the signal number after a signal. */
export async function runProgram(program: Program): Promise<number> {
  const { command, args, cwd, environment, mark, signal, graceMs = GRACE_MS } = program
  signal?.throwIfAborted()
  const child = spawn(command, args, {
    cwd,
    env: { ...environment, [MARK]: mark },
    detached: true,
    stdio: [program.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  })
  const exited = exitOf(child)
  if (child.pid === undefined) {
    const error = await exited.then(
      () => new Error('did not start'),
      (error: Error) => error,
    )
    throw new NoProgram(`${command}: ${error.message}`, { cause: error })
  }
  const group = child.pid
  running.add(group)
  child.stdin?.on('error', () => {}).end(program.input)
  const reading = Promise.allSettled([drain(child, 'stdout', program), drain(child, 'stderr', program)])
  const stop = () => void endGroup(group, graceMs)
  signal?.addEventListener('abort', stop, { once: true })
  try {
    const code = await exited
    await endGroup(group, LEFTOVER_GRACE_MS)
    // A process that left the group keeps the pipes open, possibly for ever.
    if (!(await isSettledWithin(reading, PIPES_MS))) await endMarked(mark)
    // A process without the mark cannot be found. Its output is discarded.
    if (!(await isSettledWithin(reading, LAST_WAIT_MS)))
      for (const pipe of [child.stdout, child.stderr]) pipe?.destroy()
    for (const read of await reading)
      if (read.status === 'rejected' && !hasCode(read.reason, 'ERR_STREAM_PREMATURE_CLOSE')) throw read.reason
    return code
  } finally {
    signal?.removeEventListener('abort', stop)
    running.delete(group)
  }
}

/** Kills at once without waiting, for when this process itself is about to end. */
export function killRunning(): void {
  for (const group of running) tell(group, 'SIGKILL')
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? (SIGNAL_NUMBERS[signal] ?? 0) : 0)))
  })
}

const SIGNAL_NUMBERS: Partial<Record<NodeJS.Signals, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
}

async function drain(child: ChildProcess, name: 'stdout' | 'stderr', { output }: Program): Promise<void> {
  for await (const chunk of child[name]! as AsyncIterable<Buffer>) await output(chunk)
}

async function endGroup(group: number, graceMs: number): Promise<void> {
  if (!tell(group, 'SIGTERM')) return
  if (await isGoneWithin(group, graceMs)) return
  tell(group, 'SIGKILL')
  await isGoneWithin(group, LAST_WAIT_MS)
}

async function isGoneWithin(group: number, ms: number): Promise<boolean> {
  for (const until = performance.now() + ms; performance.now() < until;) {
    if (!tell(group, 0)) return true
    await sleep(POLL_MS)
  }
  return !tell(group, 0)
}

function tell(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal)
  } catch (error) {
    if (hasCode(error, 'ESRCH', 'EPERM')) return false
    throw error
  }
}

async function isSettledWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  const isSettled = await Promise.race([work.then(() => true), late])
  timer.abort()
  return isSettled
}

/** Also ends processes that left the group. */
export async function endMarked(mark: string): Promise<void> {
  await killWhere((found) => found === mark)
}

/** Ends processes of agents that were killed. */
export async function sweepLeftovers(): Promise<void> {
  await killWhere((found) => hasProcessEnded(TAG_PATTERN.exec(found)?.[0] ?? PROCESS_TAG))
}

async function killWhere(isMeant: (mark: string) => boolean): Promise<void> {
  const names = await readdir('/proc').catch(() => [])
  await Promise.all(
    names.map(async (name) => {
      if (!/^\d+$/.test(name) || Number(name) === process.pid) return
      // The environment of other users' processes cannot be read. They do not belong to this agent.
      const environment = await readFile(`/proc/${name}/environ`, 'latin1').catch(() => '')
      const mark = new RegExp(`(?:^|\\0)${MARK}=([^\\0]*)`).exec(environment)?.[1]
      if (mark === undefined || !isMeant(mark)) return
      try {
        process.kill(Number(name), 'SIGKILL')
      } catch {
        // The process has ended meanwhile.
      }
    }),
  )
}

const KEPT =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TERM|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS|XDG_RUNTIME_DIR|DOCKER_\w+|CONTAINER_HOST|((https?|no|all)_proxy))$/i

/** The part of the agent's environment that jobs get. It excludes the agent's settings, which may be secrets. */
export function sharedEnvironment(given: Readonly<Record<string, string | undefined>>): Environment {
  const kept = Object.entries(given).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && KEPT.test(pair[0]),
  )
  return Object.fromEntries(kept)
}
