/**
 * Several HTTP processes on one machine (`workers`). The first process migrates, creates the administrator and then
 * only supervises: it opens no store and runs no feature, so no request or job can end it. Every HTTP process also runs
 * a job worker, exactly as a single process does: jobs are claimed under a lease, so each runs once, and a change wakes
 * the worker in the same process without a message between processes.
 *
 * Each process has its own heap, statements and, on PostgreSQL, up to 10 connections: about 150 MB per process, the
 * first one included. On SQLite all processes share one writer; more processes help only with reading and hashing.
 */
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { flushCompileCache } from 'node:module'
import type { Config } from '../config.ts'
import { cacheBudget } from '../lib/async/cache-budget.ts'
import { watchPressure } from '../lib/async/cache-pressure.ts'
import { openLog, type Log } from '../log.ts'
import { beginBackup } from './continuous-backup.ts'
import { collectFigures, sendFigures, shareFigures } from './figures.ts'
import { READ_ONLY, loadProgram, openInstance, printHostKeys, welcome } from './instance.ts'
import { outlive } from './outlive.ts'
import { usablePort } from './ports.ts'
import { lineOf } from './refusal.ts'
import { stopRequested } from './stop.ts'

const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 30_000
/** A process that lived this long did not fail at its start. */
const SETTLED_MS = 60_000

/** Returns the exit code. */
export async function superviseProcesses(given: Config): Promise<number> {
  const config: Config = { ...given, port: await usablePort(given) }
  const { addressAdvice, linkAddress } = await loadProgram()
  const { firstSignIn } = await prepare(config)
  // Otherwise each of the other processes would compile the program again.
  flushCompileCache()
  const url = config.url ?? linkAddress(config.host, config.port)
  const log = await openLog(config.log)
  const crew = new Crew(config, log)
  const stop = stopRequested()
  shareFigures(crewMembers)
  // Also if this process exits early: without it the others would keep running unsupervised.
  process.once('exit', () => crew.signal('SIGKILL'))

  // Shown even if no process ever starts to listen.
  if (firstSignIn) console.log(welcome(firstSignIn, config, url))
  const answers = await Promise.race([crew.start().then(() => true), stop.then(() => false)])
  const lines = [`Mortise is listening on ${url}`, config.readOnly && READ_ONLY, addressAdvice(config)]
  if (answers) console.log(lines.filter(Boolean).join('\n'))
  void printHostKeys(config)
  const backup = await beginBackup(config, log)
  await stop
  const code = await crew.stop()
  await backup?.stop()
  return code
}

async function prepare(config: Config) {
  await using instance = await openInstance(config)
  return { firstSignIn: instance.firstSignIn }
}

class Crew {
  readonly #config: Config
  readonly #log: Log
  readonly #pauses = new Set<NodeJS.Timeout>()
  #stopping = false
  #failed = false

  constructor(config: Config, log: Log) {
    this.#config = config
    this.#log = log.child({ part: 'processes' })
  }

  /** Resolves once all processes listen. */
  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#config.workers }, () => this.#hire(FIRST_PAUSE_MS)))
  }

  #hire(pause: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const born = performance.now()
    const worker = cluster.fork()
    // Sent as a message and not by the environment, which other users of the machine may read.
    worker.send(this.#config)
    worker.once('listening', () => {
      this.#log.info({ pid: worker.process.pid }, 'worker process is ready')
      resolve()
    })
    worker.once('exit', (code, signal) => {
      if (this.#stopping) {
        // A process that is still starting has no SIGTERM handler yet.
        this.#failed ||= code !== 0 && signal !== 'SIGTERM'
        return
      }
      const next = performance.now() - born > SETTLED_MS ? FIRST_PAUSE_MS : pause
      this.#log.error({ pid: worker.process.pid, status: code, signal, ms: next }, 'worker process exited; restarting')
      const timer = setTimeout(() => {
        this.#pauses.delete(timer)
        void this.#hire(Math.min(next * 2, LONGEST_PAUSE_MS)).then(resolve)
      }, next)
      this.#pauses.add(timer)
    })
    return promise
  }

  signal(signal: NodeJS.Signals): void {
    for (const worker of crewMembers()) worker.process.kill(signal)
  }

  /** Lets each process finish its running work; the exit code says whether all did. */
  async stop(): Promise<number> {
    this.#stopping = true
    for (const pause of this.#pauses) clearTimeout(pause)
    const gone = crewMembers().map((worker) => once(worker, 'exit'))
    this.signal('SIGTERM')
    await Promise.all(gone)
    return this.#failed ? 1 : 0
  }
}

const crewMembers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined)

/** Runs one of the HTTP processes. Returns its exit code. */
export async function runProcess(): Promise<number> {
  // Ctrl-C reaches the whole process group. The first process decides, and ends this one by SIGTERM.
  process.on('SIGINT', () => {})
  const stop = stopRequested(['SIGTERM'])
  const [config] = (await once(process, 'message')) as [Config]
  try {
    const { serve } = await loadProgram()
    await using forge = await serve(config, { collectFigures })
    sendFigures(forge.metrics.figures)
    outlive(forge.app.log)
    using _ = watchPressure(cacheBudget)
    await stop
  } catch (error) {
    const line = lineOf(error)
    if (line === null) throw error
    console.error(`mortise: ${line}`)
    return 1
  } finally {
    cluster.worker?.disconnect()
  }
  return 0
}
