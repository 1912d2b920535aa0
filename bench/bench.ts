/** One run: how much it measures, the servers its measurements share, and how two of them are compared fairly. */
import { mixed } from './calls.ts'
import { closedLoop, median, type Call } from './load.ts'
import { makePlace, processorTime, startFloor, startOurs, type Floor, type Server } from './servers.ts'

/** Enough for steady medians, or just enough to see that everything works. */
export interface Effort {
  readonly starts: number
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly idleSeconds: number
  readonly mixedRequests: number
  readonly openSeconds: number
  readonly few: number
  readonly many: number
  /** Of the history that is cloned. */
  readonly commits: number
}

export const FULL: Effort = {
  starts: 5,
  rounds: 7,
  seconds: 1,
  warmUpSeconds: 4,
  idleSeconds: 5,
  mixedRequests: 100_000,
  openSeconds: 20,
  few: 1000,
  many: 100_000,
  commits: 20_000,
}

export const QUICK: Effort = {
  starts: 1,
  rounds: 3,
  seconds: 0.1,
  warmUpSeconds: 1,
  idleSeconds: 0.5,
  mixedRequests: 2000,
  openSeconds: 2,
  few: 1000,
  many: 4000,
  commits: 500,
}

export interface Given {
  readonly effort: Effort
  /** Address of a PostgreSQL server; without it the store is SQLite. */
  readonly postgres?: string | undefined
  /** Folder that takes CPU profiles of our servers. */
  readonly profileInto?: string | undefined
}

/** Servers are started and warmed up when first asked for and closed at the end. */
export interface Bench extends Given, AsyncDisposable {
  /** A cold server of its own for one measurement. */
  fresh(users: number): Promise<Server>
  few(): Promise<Server>
  many(): Promise<Server>
  floor(): Promise<Floor>
}

export function openBench(given: Given): Bench {
  const { effort, postgres, profileInto } = given
  const stack = new AsyncDisposableStack()
  const fresh = async (users: number) => {
    const place = stack.use(await makePlace(postgres, users))
    return stack.use(await startOurs(place, profileInto))
  }
  // The first seconds of a server are its compiler's.
  const warm = async (users: number) => {
    const server = await fresh(users)
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
    floor: shared(async () => stack.use(await startFloor())),
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
  /** Of the times, ours to the floor's. */
  readonly ratio: number
}

type Side = () => Promise<number>

/**
 * Times two sides in turns, each round beginning with the other one, so that drift and noisy neighbours meet both
 * alike. The ratio is the median of the rounds' own ratios.
 */
export async function inTurns(rounds: number, ours: Side, floor: Side): Promise<Compared> {
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
  readonly server: Server
  readonly call: Call
}

/** Milliseconds per request of two stations under the same load. */
export async function compare(bench: Bench, ours: Station, floor: Station, seconds: number): Promise<Compared> {
  const burst = (station: Station) => () => timeEach(bench, station, seconds)
  await inTurns(WARM_UPS, burst(ours), burst(floor))
  return inTurns(bench.effort.rounds, burst(ours), burst(floor))
}

/** With PostgreSQL part of the work is done in other processes, so there only the time on the wall is the whole of it. */
async function timeEach({ postgres }: Bench, { server, call }: Station, seconds: number): Promise<number> {
  const clock = async () => (postgres ? null : await processorTime(server.pid)) ?? performance.now()
  const start = await clock()
  const answered = await closedLoop(server.port, [call], { connections: CONNECTIONS, count: MOST_REQUESTS, seconds })
  return ((await clock()) - start) / answered
}
