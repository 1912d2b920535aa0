/** One run: how much it measures, the servers its measurements share, and how two of them are compared fairly. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openSecondProcess, type SecondProcess } from './second-process.ts'
import { PROJECTS, USERS, mixed } from './calls.ts'
import { closedLoop, median, type Call, type Loop } from './load.ts'
import {
  capture,
  makeServerFolder,
  processorTime,
  startFloor,
  startOurs,
  type Floor,
  type OurServer,
  type Seeded,
  type Server,
} from './servers.ts'

/** Enough for steady medians, or just enough to see that everything works. */
export interface Effort {
  readonly starts: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Requests per round, for measurements that count instead of time. */
  readonly requests: number
  readonly writes: number
  readonly idleSeconds: number
  readonly mixedRequests: number
  readonly pageLoads: number
  readonly openSeconds: number
  readonly few: number
  readonly many: number
  /** Commits of the history that is cloned. */
  readonly commits: number
  /** Merge requests that are open at once, to one branch. */
  readonly mergeRequests: number
  /** Jobs that wait for runners. */
  readonly jobs: number
  /** Pipelines of the smaller project. */
  readonly pipelines: number
  /** Megabytes of an archive; a log has a twentieth. */
  readonly artifact: number
  /** Events that hooks are notified of. */
  readonly events: number
  /** Megabytes of an instance that is backed up. */
  readonly backup: number
}

export const FULL: Effort = {
  starts: 5,
  rounds: 7,
  seconds: 1,
  warmUpSeconds: 4,
  requests: 4000,
  writes: 200,
  idleSeconds: 5,
  mixedRequests: 100_000,
  pageLoads: 2000,
  openSeconds: 20,
  few: 1000,
  many: 100_000,
  commits: 20_000,
  mergeRequests: 1000,
  jobs: 1000,
  pipelines: 1000,
  artifact: 1000,
  events: 10_000,
  backup: 256,
}

export const QUICK: Effort = {
  starts: 1,
  rounds: 3,
  seconds: 0.1,
  warmUpSeconds: 1,
  requests: 1000,
  writes: 50,
  idleSeconds: 0.5,
  mixedRequests: 2000,
  pageLoads: 200,
  openSeconds: 2,
  few: 1000,
  many: 4000,
  commits: 500,
  mergeRequests: 100,
  jobs: 200,
  pipelines: 100,
  artifact: 100,
  events: 500,
  backup: 32,
}

export interface BenchOptions {
  readonly effort: Effort
  /** URL of a PostgreSQL server; without it the store is SQLite. */
  readonly postgres?: string | undefined
  /** Folder for CPU profiles of our servers. */
  readonly profileInto?: string | undefined
  /** Number of HTTP processes of our servers. */
  readonly workers?: number
}

/** Servers are started and warmed up on first use and closed at the end. */
export interface Bench extends BenchOptions, AsyncDisposable {
  /** A separate cold server for one measurement. */
  fresh(users: number, workers?: number): Promise<OurServer>
  few(): Promise<OurServer>
  many(): Promise<OurServer>
  /** The same with notes, events and all other planning data. */
  planned: { few(): Promise<OurServer>; many(): Promise<OurServer> }
  /** With as many merge requests. */
  requested: { few(): Promise<OurServer>; many(): Promise<OurServer> }
  /** With pipelines of one project: a number of them, and ten times as many. */
  piped: { few(): Promise<OurServer>; many(): Promise<OurServer> }
  floor(): Promise<Floor>
  secondProcess(server: OurServer): Promise<SecondProcess>
}

export function openBench(given: BenchOptions): Bench {
  const { effort, postgres, profileInto } = given
  const secondProcesses = new Map<OurServer, Promise<SecondProcess>>()
  const stack = new AsyncDisposableStack()
  const fresh = async (users: number, workers = given.workers ?? 1, more: Seeded = {}) => {
    const serverFolder = stack.use(await makeServerFolder(postgres, users, more))
    return stack.use(await startOurs(serverFolder, { profileInto, workers }))
  }
  // In its first seconds a server is busy compiling.
  const warm = async (users: number, more: Seeded = {}) => {
    const server = await fresh(users, undefined, more)
    await closedLoop(server.port, mixed, {
      connections: CONNECTIONS,
      count: MOST_REQUESTS,
      seconds: effort.warmUpSeconds,
    })
    return server
  }
  return {
    ...given,
    fresh,
    few: shared(() => warm(effort.few)),
    many: shared(() => warm(effort.many)),
    planned: {
      few: shared(() => warm(effort.few, { planning: true })),
      many: shared(() => warm(effort.many, { planning: true })),
    },
    requested: {
      few: shared(() => warm(effort.few, { mergeRequests: true })),
      many: shared(() => warm(effort.many, { mergeRequests: true })),
    },
    piped: {
      few: shared(() => warm(effort.few, { pipelines: effort.pipelines })),
      many: shared(() => warm(effort.few, { pipelines: effort.pipelines * 10 })),
    },
    floor: shared(async () => stack.use(await startFloor())),
    async secondProcess(server) {
      const records = { projects: PROJECTS, users: USERS }
      if (!secondProcesses.has(server))
        secondProcesses.set(
          server,
          openSecondProcess(server, records).then((second) => stack.use(second)),
        )
      return secondProcesses.get(server)!
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

function shared<T>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined
  return () => (started ??= start())
}

const CONNECTIONS = 8
const MOST_REQUESTS = 200_000
const WARM_UPS = 1

export interface Compared {
  readonly ours: number
  readonly floor: number
  /** Our time divided by the floor's. */
  readonly ratio: number
}

type Side = () => Promise<number>

/**
 * Times two sides alternately, each round starting with the other one, so that drift and other load affect both alike.
 * The ratio is the median of the ratios of the rounds.
 */
export async function alternately(rounds: number, ours: Side, floor: Side): Promise<Compared> {
  const times: { ours: number; floor: number }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) times.push({ ours: await ours(), floor: await floor() })
    else times.push({ floor: await floor(), ours: await ours() })
  }
  return {
    ours: median(times.map((t) => t.ours)),
    floor: median(times.map((t) => t.floor)),
    ratio: median(times.map((t) => t.ours / t.floor)),
  }
}

export interface Station {
  readonly server: OurServer
  readonly call: Call
}

/** Milliseconds per request of two stations under the same load, including the database's own time. */
export async function compare(bench: Bench, ours: Station, floor: Station, seconds: number): Promise<Compared> {
  const burst = (station: Station) => async () => {
    const loop = { connections: CONNECTIONS, count: MOST_REQUESTS, seconds }
    const { own, engine } = await costOf(bench, station.server, [station.call], loop)
    return own + engine
  }
  await alternately(WARM_UPS, burst(ours), burst(floor))
  return alternately(bench.effort.rounds, burst(ours), burst(floor))
}

/** Milliseconds of CPU time per request. */
interface Cost {
  readonly own: number
  /** CPU time of the database, if it is a separate process. */
  readonly engine: number
}

async function costOf(
  bench: Bench,
  server: OurServer,
  calls: readonly Call[],
  loop: Loop & { quietMs?: number },
): Promise<Cost> {
  const second = await bench.secondProcess(server)
  const look = async () => ({ own: await processorTime(server.pid), engine: await second.engineTime() })
  const start = await look()
  const answered = await closedLoop(server.port, calls, loop)
  await sleep(loop.quietMs ?? 0)
  const end = await look()
  return { own: (end.own - start.own) / answered, engine: (end.engine - start.engine) / answered }
}

/** Milliseconds that a call costs us and the database, right after a change to every kind of planning record. */
export async function costAfterChanges(bench: Bench, server: OurServer, times: number, call: Call): Promise<number> {
  const { plan } = await bench.secondProcess(server)
  const costs: number[] = []
  for (let n = 0; n < times; n++) {
    await plan()
    const { own, engine } = await costOf(bench, server, [call], { connections: 1, count: 1 })
    costs.push(own + engine)
  }
  return median(costs)
}

async function floorCost(floor: Server, calls: readonly Call[], loop: Loop): Promise<number> {
  const start = await processorTime(floor.pid)
  const answered = await closedLoop(floor.port, calls, loop)
  return ((await processorTime(floor.pid)) - start) / answered
}

/** Ten per second at 500 requests per second. */
const REQUESTS_A_COMMIT = 50
const QUIET_MS = 500

export type Manner = 'alone' | 'beside commits' | 'one by one until quiet'

export interface CostCompared extends Compared {
  readonly engine: number
}

/**
 * The cost of a request for us, and for a floor that sends the same bytes. With `beside commits`, another process
 * changes one of the requested records after every few requests; `one by one until quiet` also counts background work
 * after the requests.
 */
export async function compareCost(
  bench: Bench,
  server: OurServer,
  calls: readonly Call[],
  manner: Manner,
): Promise<CostCompared> {
  const { effort } = bench
  const floor = await bench.floor()
  const paths = new Map(calls.map(({ path, token }) => [path, { path, token: token! }]))
  await floor.serve(await Promise.all([...paths.values()].map((call) => capture(server.port, call))))
  const { commit } = await bench.secondProcess(server)
  const isPatient = manner === 'one by one until quiet'
  const loop = {
    connections: isPatient ? 1 : CONNECTIONS,
    count: isPatient ? effort.writes : effort.requests,
    quietMs: isPatient ? QUIET_MS : 0,
    ...(manner === 'beside commits' && { between: { requests: REQUESTS_A_COMMIT, act: commit } }),
  }
  let from = 0
  const engine: number[] = []
  const ours = async () => {
    const cost = await costOf(bench, server, calls, { ...loop, from })
    from += loop.count
    engine.push(cost.engine)
    return cost.own
  }
  const { connections, count } = loop
  const least = () => floorCost(floor, calls, { connections, count, from })
  await alternately(WARM_UPS, ours, least)
  engine.length = 0
  return { ...(await alternately(effort.rounds, ours, least)), engine: median(engine) }
}
