/** The real command as a child process, with a temporary data folder. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TEMPORARY_FOLDER } from '../../src/lib/files/temporary-folder.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const MAIN = fileURLToPath(new URL('../../bin/mortise.js', import.meta.url))

/** Generous: a start takes half a second on an idle machine and many times that on a busy one. */
export const DEADLINE_MS = 150_000

export interface Folder extends AsyncDisposable {
  readonly path: string
}

export async function temporaryFolder(): Promise<Folder> {
  const path = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-start-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 5 }) }
}

type Settings = Partial<Record<`MORTISE_${string}` | 'MALLOC_ARENA_MAX', string>>

/** Settings of the suite must not reach the command. */
function environment(settings: Settings): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('MORTISE_'))
  // The default SSH port exists only once, and the first start of an instance creates host keys, which takes longer
  // than everything else.
  return { ...Object.fromEntries(kept), MORTISE_SSH_PORT: 'off', ...settings }
}

export class Child implements AsyncDisposable {
  readonly process: ChildProcess
  stdout = ''
  stderr = ''
  readonly #ended: Promise<unknown>

  constructor(args: string[], settings: Settings = {}, input = '', program = [process.execPath, MAIN]) {
    const [name, ...first] = program as [string, ...string[]]
    this.process = spawn(name, [...first, ...args], { cwd: ROOT, env: environment(settings) })
    this.process.stdout!.on('data', (chunk) => (this.stdout += chunk))
    this.process.stderr!.on('data', (chunk) => (this.stderr += chunk))
    this.process.stdin!.on('error', () => {}).end(input)
    this.#ended = once(this.process, 'close')
  }

  /** The exit code, or the signal that ended it. */
  async ended(): Promise<number | NodeJS.Signals | null> {
    await this.#ended
    return this.process.exitCode ?? this.process.signalCode
  }

  /** The URL it listens on, as printed by the command. */
  async url(): Promise<string> {
    await until(() => {
      if (this.process.exitCode !== null) throw new Error(`it ended: ${this.stderr}`)
      return this.stdout.includes('Mortise is listening on')
    })
    return /listening on (\S+)/.exec(this.stdout)![1]!
  }

  /** Printed lines for people, and logged lines for machines. */
  get lines(): { plain: string[]; logged: Record<string, unknown>[] } {
    const lines = this.stdout.split('\n').filter(Boolean)
    return {
      plain: lines.filter((line) => !line.startsWith('{')),
      logged: lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line)),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.process.kill('SIGKILL')
    await this.#ended
  }
}

export async function run(args: string[], settings: Settings = {}, input = '') {
  await using command = new Child(args, settings, input)
  const code = await command.ended()
  return { code, stdout: command.stdout, stderr: command.stderr }
}

export interface Command {
  readonly url: string
  stop(): Promise<void>
}

/** A running server with its own data folder and port, both removed when it is stopped. */
export async function startCommand(settings: Settings = {}, args: readonly string[] = []): Promise<Command> {
  const folder = await temporaryFolder()
  const child = new Child(['serve', ...args], { MORTISE_DATA: folder.path, MORTISE_PORT: '0', ...settings })
  const stop = async () => {
    await child[Symbol.asyncDispose]()
    await folder[Symbol.asyncDispose]()
  }
  try {
    return { url: await child.url(), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

export async function until(holds: () => boolean | Promise<boolean>, { every = 20 } = {}): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not so after ${DEADLINE_MS} ms: ${holds}`)
    await new Promise((resolve) => setTimeout(resolve, every))
  }
}
