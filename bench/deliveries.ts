/** Events for hooks of many projects, some of whose receivers are dead and some slow. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openStore } from '../src/store/open.ts'
import type { Bench } from './bench.ts'
import { mixed } from './calls.ts'
import { openLoop, quantile } from './load.ts'
import type { Arrived } from './receivers.ts'
import { ADMINISTRATOR } from './seed.ts'
import { freePort, makeServerFolder, residentMemory, startOurs, type OurServer } from './servers.ts'
import { megabytes, ms, type Row } from './table.ts'

const HOOKS = 100
const DEAD = 10
const SLOW = 10
const MAKERS = 4
const READS = { connections: 8, rate: 50 }
const WAIT_MS = 1000
const READ_MS = 100
const PATIENCE_MS = 300_000

type Outcome = Omit<Row, 'what' | 'target'>

export interface DeliveryBench extends AsyncDisposable {
  readonly server: OurServer
  readonly events: number
  readonly receiver: string
  ask(method: string, path: string, body: object): Promise<{ readonly id: number }>
  /** Everything that arrived since the last call. */
  arrived(): Promise<readonly Arrived[]>
}

export async function openDeliveryBench({ postgres, effort, workers, profileInto }: Bench): Promise<DeliveryBench> {
  const stack = new AsyncDisposableStack()
  const serverFolder = stack.use(await makeServerFolder(postgres, 1000))
  const server = stack.use(await startOurs(serverFolder, { profileInto, workers: workers ?? 1 }))
  const port = await freePort()
  const child = fork(fileURLToPath(new URL('receivers.ts', import.meta.url)), [String(port)])
  stack.defer(() => void child.kill('SIGKILL'))
  await once(child, 'message')
  const headers = { 'PRIVATE-TOKEN': ADMINISTRATOR, 'Content-Type': 'application/json' }
  const ask = async (method: string, path: string, body: object) => {
    const address = `http://127.0.0.1:${server.port}/api/v4${path}`
    const answer = await fetch(address, { method, headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as { id: number }
  }
  await ask('PUT', '/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
  return {
    server,
    events: effort.events,
    receiver: `http://127.0.0.1:${port}`,
    ask,
    async arrived() {
      const message = once(child, 'message')
      child.send('report')
      const [some] = (await message) as [Arrived[]]
      return some
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

const pathOf = (n: number) => (n < DEAD ? `/dead/${n}` : n < DEAD + SLOW ? `/slow/${n}` : `/live/${n}`)
const onlyIssues = { push_events: false, issues_events: true }

/**
 * Checks that each answering hook gets its events in order and without loss; measures how long live hooks wait, and
 * concurrent reads.
 */
export async function spreadEvents(bench: DeliveryBench): Promise<Outcome> {
  const projects: number[] = []
  for (let n = 0; n < HOOKS; n++) {
    const { id } = await bench.ask('POST', '/projects', { path: `told${n}` })
    await bench.ask('POST', `/projects/${id}/hooks`, { url: `${bench.receiver}${pathOf(n)}`, ...onlyIssues })
    projects.push(id)
  }
  const memory = [await residentMemory(bench.server.pid)]
  const made = new Map<string, number>()
  let isMaking = true
  const reads = readsWhile(bench, () => isMaking)
  let next = 0
  await Promise.all(
    Array.from({ length: MAKERS }, async (_, maker) => {
      // Each maker creates events of its own projects only, so that their order is known.
      for (let mine = maker; next < bench.events; mine = (mine + MAKERS) % HOOKS) {
        const title = `${++next}`
        // By half everything is warmed up: memory kept per event would show after that.
        if (next === Math.floor(bench.events / 2)) memory.push(await residentMemory(bench.server.pid))
        await bench.ask('POST', `/projects/${projects[mine]}/issues`, { title })
        made.set(`${pathOf(mine)} ${title}`, Date.now())
      }
    }),
  )
  isMaking = false
  const arrived = await collect(bench, [...made.keys()].filter((key) => !key.startsWith('/dead')).length)
  const p99OfReads = quantile(await reads, 0.99)
  memory.push(await residentMemory(bench.server.pid))
  assertOrder(arrived)
  await assertWaiting(bench, [...made.keys()].filter((key) => key.startsWith('/dead')).length)
  const waits = arrived
    .filter(({ path }) => path.startsWith('/live'))
    .map(({ path, title, at }) => Math.max(0, at - made.get(`${path} ${title}`)!))
  const p99 = quantile(waits, 0.99)
  return {
    ours: `${ms(p99)}, reads ${ms(p99OfReads)}, ${memory.map(megabytes).join(' → ')}`,
    floor: '',
    ratio: null,
    met: p99 < WAIT_MS && p99OfReads < READ_MS,
  }
}

/** Returns the duration of each read. */
async function readsWhile({ server }: DeliveryBench, isGoingOn: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (isGoingOn()) {
    const { all, errors } = await openLoop(server.port, mixed, { ...READS, seconds: 2 })
    if (errors > 0) throw new Error(`${errors} reads failed`)
    times.push(...all)
  }
  return times
}

async function collect(bench: DeliveryBench, expected: number): Promise<Arrived[]> {
  const all: Arrived[] = []
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    all.push(...(await bench.arrived()))
    if (all.length >= expected) return all
    if (Date.now() > end) throw new Error(`of ${expected} deliveries ${all.length} arrived`)
    await sleep(100)
  }
}

function assertOrder(arrived: readonly Arrived[]): void {
  for (const [path, some] of Map.groupBy(arrived, (one) => one.path)) {
    const numbers = some.map(({ title }) => Number(title))
    const sorted = [...new Set(numbers)].toSorted((a, b) => a - b)
    if (JSON.stringify(sorted) !== JSON.stringify(numbers)) throw new Error(`${path} was told out of order or twice`)
  }
}

/** Checks that nothing for the dead receivers is lost. */
async function assertWaiting({ server }: DeliveryBench, expected: number): Promise<void> {
  const store = await openStore(server.databaseUrl, { durable: false, shared: true, poolSize: 1 })
  try {
    const { count } = await store.db
      .selectFrom('hook_deliveries')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .where('state', '=', 'waiting')
      .executeTakeFirstOrThrow()
    if (Number(count) !== expected) throw new Error(`${count} of ${expected} wait for the dead`)
  } finally {
    await store.close()
  }
}

/** From the answer to the request that caused the event until the last hook has received it. */
export async function oneToMany(bench: DeliveryBench): Promise<Outcome> {
  const { id } = await bench.ask('POST', '/projects', { path: 'crowd' })
  for (let n = 0; n < HOOKS; n++)
    await bench.ask('POST', `/projects/${id}/hooks`, { url: `${bench.receiver}/crowd/${n}`, ...onlyIssues })
  await bench.arrived()
  await bench.ask('POST', `/projects/${id}/issues`, { title: '1' })
  const answered = Date.now()
  const arrived: Arrived[] = []
  while (arrived.length < HOOKS) {
    arrived.push(...(await bench.arrived()).filter(({ path }) => path.startsWith('/crowd')))
    if (Date.now() - answered > PATIENCE_MS) throw new Error(`${arrived.length} of ${HOOKS} hooks have heard`)
    await sleep(20)
  }
  const wait = Math.max(...arrived.map(({ at }) => at)) - answered
  return { ours: ms(Math.max(0, wait)), floor: '', ratio: null, met: wait < WAIT_MS }
}
