/** The measured processes: our server as a user starts it, and the floor. Both end with the bench. */
import { execFile, fork, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { get } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { postgresDatabase } from '../src/store/temporary.ts'
import type { Captured } from './floor.ts'
import type { Call } from './load.ts'
import { seedMergeRequests } from './seed-merge-requests.ts'
import { seedPipelines } from './seed-pipelines.ts'
import { seedPlanning } from './seed-planning.ts'
import { SECRET_KEY, seed } from './seed.ts'
import { megabytes } from './table.ts'

/** High enough never to reject, so that the rate limit headers are still computed. */
export const RATE_LIMIT = '1000000000'

const START_TIMEOUT_MS = 30_000
const STOP_TIMEOUT_MS = 10_000
const POLL_MS = 2

export const main = fileURLToPath(new URL('../bin/mortise.js', import.meta.url))

const running = new Set<ChildProcess>()
const folders = new Set<string>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Also when the run is interrupted. */
export const removeAtExit = (folder: string): void => void folders.add(folder)

export interface Server extends AsyncDisposable {
  readonly pid: number
  readonly port: number
  /** From the start of the process to the first answer. */
  readonly startMs: number
  /** Resident bytes of the process at its first answer. */
  readonly startMemory: number
}

/** Our server, with direct access to its data. */
export interface OurServer extends Server {
  readonly databaseUrl: string
}

export interface Floor extends Server {
  /** From now on the floor answers these paths with these bytes. */
  serve(answers: readonly Captured[]): Promise<void>
}

/** The data of one server: a folder, and on PostgreSQL a separate database. */
export interface ServerFolder extends AsyncDisposable {
  readonly data: string
  readonly databaseUrl: string
}

export interface Seeded {
  /** With notes and events of the issues. */
  readonly planning?: boolean
  /** As many as there are users. */
  readonly mergeRequests?: boolean
  /** That many, with ten jobs each. */
  readonly pipelines?: number
}

/** With the measured data besides users, projects and issues. */
export async function makeServerFolder(
  postgres: string | undefined,
  users: number,
  { planning = false, mergeRequests = false, pipelines = 0 }: Seeded = {},
): Promise<ServerFolder> {
  const data = await mkdtemp(join(tmpdir(), 'mortise-bench-'))
  folders.add(data)
  const own = postgres
    ? await postgresDatabase(postgres)
    : { url: `sqlite:${join(data, 'mortise.sqlite')}`, drop: async () => {} }
  const serverFolder = {
    data,
    databaseUrl: own.url,
    async [Symbol.asyncDispose]() {
      await own.drop()
      await rm(data, { recursive: true, force: true })
    },
  }
  try {
    if (users > 0) await seed(serverFolder.databaseUrl, users)
    if (planning) await seedPlanning(serverFolder.databaseUrl, users)
    if (mergeRequests) await seedMergeRequests(serverFolder.databaseUrl, users)
    if (pipelines > 0) await seedPipelines(serverFolder.databaseUrl, pipelines)
    return serverFolder
  } catch (error) {
    await serverFolder[Symbol.asyncDispose]()
    throw error
  }
}

export interface OurOptions {
  readonly profileInto?: string | undefined
  readonly workers?: number
  /** For data without users. */
  readonly rootToken?: string
}

export async function startOurs(
  serverFolder: ServerFolder,
  { profileInto, workers = 1, rootToken }: OurOptions = {},
): Promise<OurServer> {
  const { data, databaseUrl } = serverFolder
  if (profileInto) await mkdir(profileInto, { recursive: true })
  const profiling = profileInto ? ['--cpu-prof', `--cpu-prof-dir=${profileInto}`] : []
  const port = await freePort()
  const settings = {
    DATA: data,
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    SSH_PORT: '0',
    RATE_LIMIT,
    SECRET_KEY,
    WORKERS: String(workers),
    ...(rootToken !== undefined && { ROOT_TOKEN: rootToken }),
  }
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`MORTISE_${name}`, value]))
  const server = await ready(port, '/api/v4/users?username=x', () =>
    spawn(process.execPath, [...profiling, main, 'serve'], { env, stdio: ['ignore', 'ignore', 'pipe'] }),
  )
  return { ...server, databaseUrl }
}

export async function startFloor(): Promise<Floor> {
  const port = await freePort()
  const floor = fileURLToPath(new URL('floor.ts', import.meta.url))
  let child!: ChildProcess
  const server = await ready(port, '/', () => (child = fork(floor, [String(port)])))
  return {
    ...server,
    async serve(answers) {
      child.send(answers)
      await once(child, 'message')
    },
  }
}

async function ready(port: number, path: string, start: () => ChildProcess): Promise<Server> {
  const began = performance.now()
  const child = start()
  running.add(child)
  child.once('exit', () => running.delete(child))
  const complaint = child.stderr ? text(child.stderr) : Promise.resolve('')
  while (!(await answers(port, path))) {
    if (child.exitCode !== null) throw new Error(`the server ended at its start:\n${await complaint}`)
    if (performance.now() - began > START_TIMEOUT_MS) {
      await stop(child)
      throw new Error(`the server does not answer ${path}:\n${await complaint}`)
    }
    await sleep(POLL_MS)
  }
  const startMs = performance.now() - began
  const startMemory = await ownMemory(child.pid!)
  return { pid: child.pid!, port, startMs, startMemory, [Symbol.asyncDispose]: () => stop(child) }
}

const answers = (port: number, path: string) =>
  capture(port, { path }).then(
    () => true,
    () => false,
  )

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS)
  await gone
  clearTimeout(timer)
}

const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive'])

/** One answer as received; any status other than 200 throws. */
export async function capture(port: number, { path, token }: Call): Promise<Captured> {
  const headers = token ? { 'PRIVATE-TOKEN': token } : {}
  const request = get({ host: '127.0.0.1', port, path, headers, agent: false })
  const [response] = await once(request, 'response')
  const body = await text(response)
  if (response.statusCode !== 200) throw new Error(`${path} answered ${response.statusCode}`)
  const raw: string[] = response.rawHeaders
  const kept = raw.filter((_, i) => !ADDED_BY_NODE.has(raw[i - (i % 2)]!.toLowerCase()))
  return { path, headers: kept, body }
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

const TELLS_PROCESSOR_TIME = existsSync('/proc/self/schedstat')

/**
 * Milliseconds of CPU time of all threads of a process and of its children. Unlike wall-clock time, which is used if
 * the system does not report CPU time, it excludes other load of the machine.
 */
export async function processorTime(pid: number): Promise<number> {
  if (!TELLS_PROCESSOR_TIME) return performance.now()
  const folder = `/proc/${pid}/task`
  const times = (await readdir(folder)).map(async (thread) => {
    const [time, children] = await Promise.all([
      readFile(`${folder}/${thread}/schedstat`, 'utf8'),
      readFile(`${folder}/${thread}/children`, 'utf8'),
    ]).catch(() => ['0', '']) // it ended in the meantime
    const inner = await Promise.all(
      children!
        .split(' ')
        .filter(Boolean)
        .map((child) => processorTime(Number(child)).catch(() => 0)), // it ended in the meantime
    )
    return Number(time!.split(' ', 1)[0]) / 1e6 + inner.reduce((sum, one) => sum + one, 0)
  })
  return (await Promise.all(times)).reduce((sum, one) => sum + one, 0)
}

/**
 * Resident bytes of a process and all its children. Where the system tells, pages that several of them have count once.
 */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=,rss='])
  const processes = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const sum = async (root: number): Promise<number> => {
    const parts = processes.flatMap(([pid, parent, kilobytes]) => {
      if (pid === root) return shareOf(root, kilobytes! * 1024)
      return parent === root ? sum(pid!) : []
    })
    return (await Promise.all(parts)).reduce((total, one) => total + one, 0)
  }
  return sum(pid)
}

async function shareOf(pid: number, resident: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '')
  const kilobytes = /^Pss:\s+(\d+) kB/m.exec(rollup)?.[1]
  return kilobytes === undefined ? resident : Number(kilobytes) * 1024
}

async function ownMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024
}

const LOOK_EVERY_MS = 50

export interface MemoryUse {
  readonly start: number
  readonly before: number
  readonly most: number
}

/** For a process, whatever it has done. */
export const MOST_MEMORY = 350 * 1024 * 1024

/** Shown over the memory at the start; the work itself may add so much. */
export const memoryOutcome = ({ start, before, most }: MemoryUse, mostGrowth: number) => ({
  ours: megabytes(most),
  floor: megabytes(start),
  ratio: most / start,
  met: most - before < mostGrowth && most < MOST_MEMORY,
})

/**
 * The peak memory of the process alone while `work` runs, and its memory when it had started: a server that the rows
 * before have filled would hide how much it needs.
 */
export async function memoryDuring({ pid, startMemory }: Server, work: () => Promise<unknown>): Promise<MemoryUse> {
  const before = await ownMemory(pid)
  let most = before
  const watch = setInterval(() => void ownMemory(pid).then((now) => (most = Math.max(most, now))), LOOK_EVERY_MS)
  try {
    await work()
  } finally {
    clearInterval(watch)
  }
  return { start: startMemory, before, most }
}
