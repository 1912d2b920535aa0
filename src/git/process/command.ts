/**
 * The only code that starts git. A command gets no shell, no environment but the one below, no system or user
 * configuration, no hooks, no prompts, and no protocol that the caller did not name. It ends by its deadline together
 * with its child processes, and its output is limited. Secrets go into `config`, which travels in the environment,
 * because every local user can read command lines.
 */
import { PassThrough, Readable } from 'node:stream'
import { MINUTE } from '../../clock.ts'
import { launch, type Program } from './launcher.ts'
import type { Argument } from './arguments.ts'

export interface GitOptions {
  /**
   * A stream is read as fast as git reads it, and destroyed if git ends first. A failure of the stream ends git and is
   * thrown.
   */
  readonly input?: string | Uint8Array | Readable
  /** Additional configuration for this command; never on its command line. */
  readonly config?: Readonly<Record<string, string | readonly string[]>>
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The protocol to reach other repositories. Default: none. */
  readonly protocol?: 'http' | 'https' | 'git'
  /** Milliseconds until the command is ended. */
  readonly deadline?: number
  /** The limit of the output in bytes. */
  readonly maxOutput?: number
  /** Exit codes besides 0 that count as an answer. */
  readonly answers?: readonly number[]
  /** On abort, the command is ended and the reason of the signal is thrown. */
  readonly signal?: AbortSignal | undefined
  onStderr?(text: string): void
}

/** `exit`: the command ended by itself with an exit code. */
export type FailureReason = 'exit' | 'deadline' | 'output' | 'start'

export class GitFailed extends Error {
  readonly reason: FailureReason
  readonly code: number | null
  /** The end of its error output, without credentials. */
  readonly stderr: string

  constructor(command: string, reason: FailureReason, code: number | null, stderr: string) {
    const how = {
      exit: `ended with ${code}`,
      deadline: 'took too long',
      output: 'said too much',
      start: 'did not start',
    }
    super(`git ${command} ${how[reason]}${stderr && `: ${stderr}`}`)
    this.name = 'GitFailed'
    this.reason = reason
    this.code = code
    this.stderr = stderr
  }
}

const MAX_OUTPUT = 16 * 1024 * 1024
/** `maxOutput` for output that grows with a repository: its refs, or the commits and paths of a push. */
export const LONG_LISTING = 256 * 1024 * 1024
const MAX_STDERR = 4096
/** How long git may clean up (locks, partial packs) before it is killed. */
const GRACE_MS = 2000

/** Runs git in a repository, or without one, and returns its output. */
export async function git<const A extends string>(
  dir: string | null,
  args: readonly (A & Argument<A>)[],
  options: GitOptions = {},
): Promise<string> {
  return (await collect(dir, args, options)).toString()
}

/** The same for binary output. */
export function gitBytes<const A extends string>(
  dir: string | null,
  args: readonly (A & Argument<A>)[],
  options: GitOptions = {},
): Promise<Buffer> {
  return collect(dir, args, options)
}

/**
 * Streams the output of git, only as fast as it is read, without a limit. The stream ends when git succeeds, and fails
 * with the error that `git()` would throw. Destroying the stream ends git.
 */
export function gitStream<const A extends string>(
  dir: string | null,
  args: readonly (A & Argument<A>)[],
  options: Omit<GitOptions, 'maxOutput'> = {},
): Readable {
  options.signal?.throwIfAborted()
  const child = start(dir, args, options)
  const failure = watch(child, options).ended.then((ending) => failureOf(args, ending, options))
  const tell = async (done: (error: Error | null) => void) => done(await failure)
  const stream = new PassThrough({
    flush: (done) => void tell(done),
    destroy(error, done) {
      child.stdout.destroy()
      if (isRunning(child)) endGroup(child)
      done(error)
    },
  })
  child.stdout.pipe(stream)
  // After a failure, unread output would keep the stream open until it is read.
  child.once('exit', (code) => code !== 0 && child.stdout.destroy())
  void failure.then((error) => error && stream.destroy(error))
  return stream
}

/** Starts a git process that stays open, with pipes. It has no deadline, so the caller must supervise it. */
export function startGit<const A extends string>(
  dir: string,
  args: readonly (A & Argument<A>)[],
  options: Pick<GitOptions, 'config' | 'environment'> = {},
): Program {
  return start(dir, args, { ...options, input: '' })
}

async function collect(dir: string | null, args: readonly string[], options: GitOptions): Promise<Buffer> {
  options.signal?.throwIfAborted()
  const { maxOutput = MAX_OUTPUT } = options
  const child = start(dir, args, options)
  const { ended, end } = watch(child, options)
  const output: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxOutput) end('output')
    else output.push(chunk)
  })
  const failure = failureOf(args, await ended, options)
  if (failure) throw failure
  return Buffer.concat(output)
}

function failureOf(args: readonly string[], ending: Ending, { signal, answers }: GitOptions): Error | null {
  const { reason, code, stderr, inputError } = ending
  if (signal?.aborted) return signal.reason as Error
  if (inputError) return inputError
  const hasAnswered = reason === 'exit' && code !== null && (code === 0 || answers?.includes(code))
  return hasAnswered ? null : new GitFailed(args[0] ?? '', reason, code, stderr)
}

function start(dir: string | null, args: readonly string[], options: GitOptions): Program {
  return launch(['git', ...args], {
    cwd: dir ?? '/',
    env: environmentOf(dir, options),
    hasInput: options.input !== undefined,
  })
}

const CONFIG = {
  // A folder without hooks, whatever the repository contains.
  'core.hooksPath': '/dev/null',
  // The server owns all repositories, even if the data folder was mounted with another owner.
  'safe.directory': '*',
}

function environmentOf(dir: string | null, { config, environment, protocol }: GitOptions): NodeJS.ProcessEnv {
  const settings = Object.entries({ ...CONFIG, ...config }).flatMap(([key, values]) =>
    [values].flat().map((value) => [key, value] as const),
  )
  return {
    // Not a setting of this server: where the machine has its programs.
    PATH: process.env.PATH,
    LC_ALL: 'C',
    // Cannot contain anything: no .netrc, no .config/git.
    HOME: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: protocol ?? '',
    // A pushed refs/replace/… would show one object under the id of another.
    GIT_NO_REPLACE_OBJECTS: '1',
    // A file name may be `*` or `:(top)`.
    GIT_LITERAL_PATHSPECS: '1',
    // With an explicit folder, git does not search the parent folders.
    ...(dir !== null && { GIT_DIR: dir }),
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], n) => [
        [`GIT_CONFIG_KEY_${n}`, key],
        [`GIT_CONFIG_VALUE_${n}`, value],
      ]),
    ),
    ...environment,
  }
}

interface Ending {
  readonly reason: FailureReason
  readonly code: number | null
  readonly stderr: string
  readonly inputError: Error | null
}

function watch(child: Program, options: GitOptions): { ended: Promise<Ending>; end: (because: FailureReason) => void } {
  const { input, signal, deadline = MINUTE, onStderr } = options
  const { promise: ended, resolve } = Promise.withResolvers<Ending>()
  let stderr = ''
  let reason: FailureReason = 'exit'
  let inputError: Error | null = null

  const end = (because: FailureReason) => {
    if (reason !== 'exit') return
    reason = because
    endGroup(child)
  }
  const abort = () => endGroup(child)
  const timer = setTimeout(end, deadline, 'deadline')
  signal?.addEventListener('abort', abort)

  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    // Before the text is cut, because half a URL would not be recognized.
    stderr = withoutCredentials(stderr + text).slice(-MAX_STDERR)
    onStderr?.(text)
  })
  // A command may end without reading all of its input. Its exit code says what that means.
  child.stdin?.on('error', () => {})
  if (!(input instanceof Readable)) child.stdin?.end(input)
  else if (child.stdin) {
    input.once('error', (error) => {
      inputError = error
      endGroup(child)
    })
    input.pipe(child.stdin)
  }
  child.once('error', (error) => {
    reason = 'start'
    stderr = error.message
  })
  child.once('close', (code) => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    if (input instanceof Readable) input.destroy()
    resolve({ reason, code: reason === 'exit' ? code : null, stderr: stderr.trim(), inputError })
  })
  return { ended, end }
}

const isRunning = (child: Program) => child.exitCode === null && child.signalCode === null

/** Also ends its child processes. */
export function endGroup(child: Program): void {
  child.signal('SIGTERM')
  const timer = setTimeout(() => {
    child.signal('SIGKILL')
    // In case a process has left the group and keeps the pipes open.
    child.stdout.destroy()
    child.stderr.destroy()
  }, GRACE_MS)
  child.once('close', () => clearTimeout(timer))
}

const withoutCredentials = (text: string) => text.replaceAll(/(\w:\/\/)[^\s/]*@/g, '$1')
