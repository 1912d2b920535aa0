/**
 * The one place that starts git. A command gets no shell, no environment but the one below, no configuration of the
 * machine or of a user, no hooks, no prompts and no protocol it did not ask for; it ends by its deadline, with all it
 * has started, and says no more than it may. Secrets go in by `config`, which travels in the environment: command
 * lines are for everyone on the machine to read.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { MINUTE } from '../clock.ts'
import type { Argument } from './arguments.ts'

export interface GitOptions {
  readonly input?: string | Uint8Array
  /** More configuration for this command; never on its command line. */
  readonly config?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  /** What it may reach other repositories by; nothing, unless named. */
  readonly protocol?: 'http' | 'https' | 'git'
  /** Milliseconds until it is ended. */
  readonly deadline?: number
  /** Bytes it may answer. */
  readonly maxOutput?: number
  /** Once aborted, the command is ended and the signal's reason is thrown. */
  readonly signal?: AbortSignal | undefined
  onStderr?(text: string): void
}

/** `exit`: it ended with a code of its own, by itself. */
export type FailureReason = 'exit' | 'deadline' | 'output' | 'start'

export class GitFailed extends Error {
  readonly reason: FailureReason
  readonly code: number | null
  /** The end of what it said, without credentials. */
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
const MAX_STDERR = 4096
/** How long git may clean up after itself (locks, half packs) before it is killed. */
const GRACE_MS = 2000

/** Runs git in a repository, or in none, and answers what it wrote. */
export async function git<const A extends string>(
  dir: string | null,
  args: readonly (A & Argument<A>)[],
  options: GitOptions = {},
): Promise<string> {
  options.signal?.throwIfAborted()
  const child = start(dir, args, options)
  const { reason, code, output, stderr } = await ending(child, options)
  options.signal?.throwIfAborted()
  if (reason !== 'exit' || code !== 0) throw new GitFailed(args[0] ?? '', reason, code, stderr)
  return output
}

function start(dir: string | null, args: readonly string[], options: GitOptions): ChildProcess {
  return spawn('git', args, {
    cwd: dir ?? '/',
    env: environmentOf(dir, options),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    // A process group of its own, to be ended as a whole.
    detached: process.platform !== 'win32',
  })
}

const CONFIG = {
  // A folder that has no hooks, whatever the repository's own folder has.
  'core.hooksPath': '/dev/null',
  // All repositories are ours, also when the data folder was mounted from another owner.
  'safe.directory': '*',
}

function environmentOf(dir: string | null, { config, environment, protocol }: GitOptions): NodeJS.ProcessEnv {
  const settings = Object.entries({ ...CONFIG, ...config })
  return {
    // Not a setting of ours: where the machine keeps its programs.
    PATH: process.env.PATH,
    LC_ALL: 'C',
    // Nothing can be in it: no .netrc, no .config/git.
    HOME: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ALLOW_PROTOCOL: protocol ?? '',
    // A pushed refs/replace/… would show one object under the name of another.
    GIT_NO_REPLACE_OBJECTS: '1',
    // A file may be called `*` or `:(top)`.
    GIT_LITERAL_PATHSPECS: '1',
    // Said outright, it is never looked for in the folders above.
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
  readonly output: string
  readonly stderr: string
}

function ending(child: ChildProcess, options: GitOptions): Promise<Ending> {
  const { input, signal, deadline = MINUTE, maxOutput = MAX_OUTPUT, onStderr } = options
  const { promise, resolve } = Promise.withResolvers<Ending>()
  const output: Buffer[] = []
  let size = 0
  let stderr = ''
  let reason: FailureReason = 'exit'

  const end = (because: FailureReason) => {
    if (reason !== 'exit') return
    reason = because
    endGroup(child)
  }
  const abort = () => endGroup(child)
  const timer = setTimeout(end, deadline, 'deadline')
  signal?.addEventListener('abort', abort)

  child.stdout?.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxOutput) end('output')
    else output.push(chunk)
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    // Before it is cut: half an address would not be known as one.
    stderr = withoutCredentials(stderr + text).slice(-MAX_STDERR)
    onStderr?.(text)
  })
  // A command may end without reading all of its input; its exit code tells what that means.
  child.stdin?.on('error', () => {}).end(input)
  child.once('error', (error) => {
    reason = 'start'
    stderr = error.message
  })
  child.once('close', (code) => {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    resolve({
      reason,
      code: reason === 'exit' ? code : null,
      output: Buffer.concat(output).toString(),
      stderr: stderr.trim(),
    })
  })
  return promise
}

function endGroup(child: ChildProcess): void {
  killGroup(child, 'SIGTERM')
  const timer = setTimeout(() => {
    killGroup(child, 'SIGKILL')
    // Should anyone have left the group, with our pipes in hand.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }, GRACE_MS)
  child.once('close', () => clearTimeout(timer))
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  if (process.platform === 'win32') return void child.kill(signal)
  try {
    process.kill(-child.pid, signal)
  } catch {
    // All of them have ended meanwhile.
  }
}

const withoutCredentials = (text: string) => text.replaceAll(/(\w:\/\/)[^\s/]*@/g, '$1')
