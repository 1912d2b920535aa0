/** Pending jobs and runners that request them: how soon a runner gets a job, and how many runners get one at once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Store } from '../src/store/database.ts'
import { openStore } from '../src/store/open.ts'
import type { Bench } from './bench.ts'
import { askUntilRefused, median, quantile, withAsker } from './load.ts'
import { ADMINISTRATOR } from './seed.ts'
import { makeServerFolder, processorTime, startOurs, type OurServer } from './servers.ts'
import { ms, type Row } from './table.ts'

const RUNNERS = 50
const PROJECTS = 10
const WAIT_MS = 50
const MOST_MS = 100

type Outcome = Omit<Row, 'what' | 'target'>

export interface QueueBench extends AsyncDisposable {
  readonly server: OurServer
  readonly rounds: number
  readonly jobs: number
  /** Runner tokens. */
  readonly runners: readonly string[]
  /** Creates a pipeline in each of that many projects. */
  queue(projects: number): Promise<void>
  /** Ends all jobs; resolves to the number of jobs that ran. */
  clear(): Promise<number>
}

export async function openQueueBench({ postgres, effort, workers, profileInto }: Bench): Promise<QueueBench> {
  const stack = new AsyncDisposableStack()
  const serverFolder = stack.use(await makeServerFolder(postgres, 1000))
  const server = stack.use(await startOurs(serverFolder, { profileInto, workers: workers ?? 1 }))
  const store = await openStore(server.databaseUrl, { durable: false, shared: true, poolSize: 1 })
  stack.defer(() => store.close())
  const post = poster(server)
  const file = `a: { script: [make], parallel: ${effort.jobs / PROJECTS} }\n`
  const projects: number[] = []
  for (let n = 0; n < PROJECTS; n++) {
    const { id } = await post('/projects', { path: `queue${n}` })
    const commit = { branch: 'master', content: file, commit_message: 'Build' }
    await post(`/projects/${id}/repository/files/.gitlab-ci.yml`, commit)
    projects.push(id)
  }
  const runners: string[] = []
  for (let n = 0; n < RUNNERS; n++)
    runners.push((await post('/user/runners', { runner_type: 'instance_type', description: `${n}` })).token)
  const clear = () => endAll(store, post)
  await clear()
  return {
    server,
    rounds: effort.rounds,
    jobs: effort.jobs,
    runners,
    async queue(count) {
      for (const id of projects.slice(0, count)) await post(`/projects/${id}/pipeline`, { ref: 'master' })
    },
    clear,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

interface Made {
  readonly id: number
  readonly token: string
}

const poster =
  ({ port }: OurServer) =>
  async (path: string, body: object = {}): Promise<Made> => {
    const headers = { 'PRIVATE-TOKEN': ADMINISTRATOR, 'Content-Type': 'application/json' }
    const address = `http://127.0.0.1:${port}/api/v4${path}`
    const answer = await fetch(address, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`)
    return JSON.parse(text) as Made
  }

async function endAll({ db }: Store, post: (path: string) => Promise<unknown>): Promise<number> {
  const { rows: running } = await sql<{ count: number }>`
    select count(*) as count from ci_jobs where status = 'running'`.execute(db)
  const { rows } = await sql<{ id: number; project_id: number }>`
    select id, project_id from pipelines where status in ('pending', 'running')`.execute(db)
  for (const { id, project_id } of rows) await post(`/projects/${project_id}/pipelines/${id}/cancel`)
  return Number(running[0]!.count)
}

const asking = (token: string, last_update = '') => ({
  method: 'POST' as const,
  path: '/api/v4/jobs/request',
  body: `token=${token}&last_update=${encodeURIComponent(last_update)}`,
})

/** All runners at once, each requesting the next job as soon as it has one, until none is left. */
export async function drainTime(bench: QueueBench): Promise<Outcome> {
  const calls = bench.runners.map((token) => asking(token))
  const rounds: { p50: number; p99: number; total: number; busy: number }[] = []
  // The first round is for the compiler.
  for (let round = 0; round <= bench.rounds; round++) {
    await bench.queue(PROJECTS)
    const start = performance.now()
    const before = await processorTime(bench.server.pid)
    const { times, given } = await askUntilRefused(bench.server.port, calls)
    const total = performance.now() - start
    const busy = ((await processorTime(bench.server.pid)) - before) / times.length
    const running = await bench.clear()
    if (given !== bench.jobs || running !== bench.jobs)
      throw new Error(`of ${bench.jobs} jobs ${given} were given and ${running} run`)
    if (round > 0) rounds.push({ p50: quantile(times, 0.5), p99: quantile(times, 0.99), total, busy })
  }
  const of = (name: 'p50' | 'p99' | 'total' | 'busy') => median(rounds.map((one) => one[name]))
  const figures = [of('p50'), of('p99'), of('total'), of('busy')].map(ms).join(', ')
  return { ours: figures, floor: '', ratio: null, met: of('p99') < MOST_MS }
}

/** From the request that creates a pipeline until a waiting runner has its job. */
export async function pickUpTime(bench: QueueBench): Promise<Outcome> {
  const [token] = bench.runners
  const times: number[] = []
  await withAsker(bench.server.port, async (ask) => {
    let { lastUpdate } = await ask(asking(token!))
    for (let n = 0; n < 3 * bench.rounds; n++) {
      const answer = ask(asking(token!, lastUpdate))
      await sleep(WAIT_MS)
      await bench.queue(1)
      const queued = performance.now()
      const { status } = await answer
      times.push(Math.max(0, performance.now() - queued))
      if (status !== 201) throw new Error(`a waiting runner was answered ${status}`)
      await bench.clear()
      ;({ lastUpdate } = await ask(asking(token!)))
    }
  })
  return { ours: ms(median(times)), floor: '', ratio: null, met: median(times) < MOST_MS }
}
