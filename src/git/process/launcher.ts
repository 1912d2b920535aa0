/**
 * Starts programs from a small launcher process. Starting a program takes time in proportion to the memory of the
 * starting process: a server of 150 MB stops for ten milliseconds. The launcher has a third of that memory, and no
 * request waits for it. The pipes of a program lead directly to the server; nothing passes through the launcher. A
 * process that starts only a few programs has no launcher. The launcher ends after an idle time, and with the server.
 */
import { fork, spawn, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { channel } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { Hello, LaunchReport, Signal, LaunchRequest } from './launcher-process.ts'

export interface LaunchOptions {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Otherwise the input of the program is empty. */
  readonly hasInput: boolean
}

/** The part of ChildProcess that callers need. The program leads its own process group. */
export interface Program {
  readonly words: readonly string[]
  readonly stdin: Writable | null
  readonly stdout: Readable
  readonly stderr: Readable
  /** Both are null while the program runs. */
  readonly exitCode: number | null
  readonly signalCode: NodeJS.Signals | null
  /** Sends the signal to the whole group. Harmless after its end. */
  signal(name: NodeJS.Signals): void
  /** Whether the program keeps this process from ending. */
  hold(isHeld: boolean): void
  /** `close`: the program has ended, and all its output has been read. */
  once(event: 'exit' | 'close', listener: (code: number | null) => void): unknown
  /** The program did not start; `close` follows. */
  once(event: 'error', listener: (error: Error) => void): unknown
}

type Control = Pick<Program, 'signal' | 'hold'>

/** Publishes each start of a program. */
export const launches = channel('mortise.launches')

/** Counts for this process, whatever code started the programs. */
export const programs = { started: 0, running: 0 }

type Words = readonly [string, ...string[]]

/** On other systems starting is cheaper, or groups and sockets work differently. */
const HAS_LAUNCHER = process.platform === 'linux'
const FEW = 2

let count = 0
let launcher: Launcher | undefined

export function launch(words: Words, options: LaunchOptions): Program {
  if (HAS_LAUNCHER && ++count > FEW) launcher ??= new Launcher()
  const program = launcher?.isReady ? launcher.launch(words, options) : launchHere(words, options)
  programs.started++
  programs.running++
  program.once('close', () => programs.running--)
  launches.publish(program)
  return program
}

function launchHere(words: Words, { cwd, env, hasInput }: LaunchOptions): Program {
  const [command, ...args] = words
  const child = spawn(command, args, {
    cwd,
    env,
    stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  return Object.assign(child, {
    words,
    signal: (name: NodeJS.Signals) => signalGroup(child, name),
    hold: (isHeld: boolean) => hold([child, child.stdin, child.stdout, child.stderr] as (Socket | null)[], isHeld),
  }) as Program
}

function signalGroup(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.pid === undefined) return
  if (process.platform === 'win32') return void child.kill(name)
  try {
    process.kill(-child.pid, name)
  } catch {
    // All processes have ended meanwhile.
  }
}

interface Waiting {
  ref(): void
  unref(): void
}

function hold(handles: readonly (Waiting | null)[], isHeld: boolean): void {
  for (const handle of handles) handle?.[isHeld ? 'ref' : 'unref']()
}

const PROCESS = new URL(`./launcher-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)
const QUIET_MS = 60_000

class Launcher {
  isReady = false
  readonly #child = fork(PROCESS, [], {
    execArgv: ['--max-semi-space-size=1'],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    detached: true,
  })
  // An abstract socket, not a file: it disappears with the process, however that ends.
  readonly #hello: Hello = { path: `\0mortise-${randomUUID()}`, secret: randomUUID() }
  readonly #programs = new Map<number, Launched>()
  readonly #held = new Set<number>()
  readonly #quiet = setTimeout(() => this.#end(), QUIET_MS).unref()
  #last = 0

  constructor() {
    this.#child.on('message', (message: 'ready' | LaunchReport) => {
      if (message === 'ready') this.isReady = true
      else this.#hear(message)
    })
    this.#child.once('error', () => this.#lose()).once('exit', () => this.#lose())
    this.#child.send(this.#hello)
    this.#child.unref()
    this.#child.channel?.unref()
  }

  launch(words: Words, options: LaunchOptions): Program {
    const id = ++this.#last
    const { path, secret } = this.#hello
    const open = (descriptor: number) => {
      const pipe = createConnection({ path }).on('error', ({ syscall }: NodeJS.ErrnoException) => {
        // A program without all its pipes is never started.
        if (syscall === 'connect') this.#send({ id, signal: 'SIGTERM' })
      })
      pipe.write(`${secret} ${id} ${descriptor}\n`)
      return pipe
    }
    const program = new Launched(words, [options.hasInput ? open(0) : null, open(1), open(2)], {
      signal: (signal) => this.#send({ id, signal }),
      hold: (isHeld) => this.#hold(id, isHeld),
    })
    this.#programs.set(id, program)
    this.#hold(id, true)
    this.#send({ id, words, ...options })
    return program
  }

  #send(message: LaunchRequest | Signal): void {
    if (this.#child.connected) this.#child.send(message)
  }

  #hold(id: number, isHeld: boolean): void {
    if (isHeld && this.#programs.has(id)) this.#held.add(id)
    else this.#held.delete(id)
    if (this.#child.channel) hold([this.#child.channel], this.#held.size > 0)
  }

  #hear(update: LaunchReport): void {
    const program = this.#programs.get(update.id)
    if (update.what === 'started') return program?.started()
    this.#programs.delete(update.id)
    this.#hold(update.id, false)
    this.#quiet.refresh()
    if (update.what === 'failed') program?.failed(new Error(update.why))
    else program?.ended(update.code, update.signal)
  }

  #end(): void {
    if (this.#programs.size > 0) return void this.#quiet.refresh()
    this.#forget()
    this.#child.disconnect()
  }

  /** The launcher has ended. Its programs still run, but their end cannot be observed any more. */
  #lose(): void {
    this.#forget()
    for (const program of this.#programs.values()) program.failed(new Error('the launcher ended'))
    this.#programs.clear()
  }

  #forget(): void {
    this.isReady = false
    clearTimeout(this.#quiet)
    if (launcher === this) launcher = undefined
  }
}

class Launched extends EventEmitter implements Program {
  readonly words: Words
  /** Held back until the program has started. Before that, the launcher would read the data. */
  readonly stdin: PassThrough | null
  readonly stdout: Socket
  readonly stderr: Socket
  exitCode: number | null = null
  signalCode: NodeJS.Signals | null = null
  readonly #input: Socket | null
  readonly #control: Control

  constructor(words: Words, [input, output, errors]: readonly [Socket | null, Socket, Socket], control: Control) {
    super()
    this.words = words
    this.stdin = input && new PassThrough()
    this.stdout = output
    this.stderr = errors
    this.#input = input
    this.#control = control
  }

  signal(name: NodeJS.Signals): void {
    this.#control.signal(name)
  }

  hold(isHeld: boolean): void {
    hold([this.#input, this.stdout, this.stderr], isHeld)
    this.#control.hold(isHeld)
  }

  started(): void {
    // The program sends nothing through this pipe, but its end is noticed.
    if (this.#input) this.stdin?.pipe(this.#input.resume())
  }

  failed(error: Error): void {
    for (const pipe of [this.stdin, this.#input, this.stdout, this.stderr]) pipe?.destroy()
    this.emit('error', error)
    this.emit('close', null)
  }

  ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.exitCode = code
    this.signalCode = signal
    this.#input?.destroy()
    this.stdin?.destroy()
    this.emit('exit', code, signal)
    const open = [this.stdout, this.stderr].filter((pipe) => !pipe.closed)
    let left = open.length
    const closed = () => --left <= 0 && this.emit('close', code)
    if (left === 0) return void closed()
    for (const pipe of open) {
      pipe.once('close', closed)
      // No reader has been attached, and none will be.
      if (pipe.readableFlowing === null) pipe.resume()
    }
  }
}
