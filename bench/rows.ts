/** The measurements, by the names that `--only` takes. A failed measurement is a row that misses its target. */
import { setTimeout as sleep } from 'node:timers/promises'
import { asOutcome, openBackupBench } from './backups.ts'
import { compare, compareCost, costAfterChanges, alternately, type Bench, type Manner } from './bench.ts'
import {
  changes,
  changingIssues,
  growing,
  growingIssues,
  growingProjects,
  issueChanges,
  largestPage,
  largestPageOfProjects,
  listAsAdministrator,
  listAsMember,
  mixed,
  namesOfProjects,
  pagesOf,
  oneProject,
  ownRecord,
  projectsAsMember,
  readsAndWrites,
  rotatingOwn,
  rotatingProject,
  rotatingProjects,
  rotatingUser,
  rotatingUsers,
  smallUserWrites,
  smallWrites,
  writesWithReactions,
} from './calls.ts'
import { oneToMany, openDeliveryBench, spreadEvents } from './deliveries.ts'
import { forgeRows } from './forges.ts'
import { archiveTime, cloneTime, clonesAtOnce, openGitBench, treePageTime } from './git.ts'
import { afterChanges, closedLoop, openLoop, type Call } from './load.ts'
import { largeArchive, longLog } from './job-files.ts'
import { growingPlanning } from './planning.ts'
import { growingRequests } from './merge-request-lists.ts'
import { createTime, freshTime, openRequestBench, pushWithManyOpen } from './merge-requests.ts'
import { growingPipelines } from './pipeline-lists.ts'
import { longLogRows, manyFilesRows } from './large-pages.ts'
import { homeOf, pageRows } from './pages.ts'
import { drainTime, openQueueBench, pickUpTime } from './queue.ts'
import { readRows } from './reads.ts'
import {
  capture,
  makeServerFolder,
  MOST_MEMORY,
  residentMemory,
  startFloor,
  startOurs,
  type OurServer,
  type Server,
} from './servers.ts'
import { megabytes, ms, type Row } from './table.ts'
import { commitEffort, commitTime, openWriteBench, pushTime } from './writes.ts'

const MB = 1024 * 1024
const CHANGES_A_ROUND = 10
const OPEN_CONNECTIONS = 64

type Outcome = Omit<Row, 'what' | 'target'>

export const measurements = {
  start: async (bench) => [await row('start to ready, empty data', '< 1 s', () => startToReady(bench))],

  forge: forgeRows,

  memory: async (bench) => [
    await row('memory, idle', '< 180 MB', () => memoryIdle(bench)),
    await row(`memory after ${bench.effort.mixedRequests} mixed requests`, '< 350 MB', () =>
      memoryUsed(bench, mixedLoad),
    ),
    await row(`memory after ${bench.effort.pageLoads} page loads`, '< 350 MB', () => memoryUsed(bench, pageLoads)),
  ],

  record: async (bench) => [
    await rotatingRow(bench, 'GET /projects/:id', rotatingProject, 4),
    await rotatingRow(bench, 'GET /users/:id', rotatingUser, 4),
    await rotatingRow(bench, 'GET /user', rotatingOwn, 4),
  ],

  list: async (bench) => [
    await rotatingRow(bench, 'GET /projects', rotatingProjects, 6),
    await rotatingRow(bench, 'GET /users', rotatingUsers, 6),
  ],

  repeated: async (bench) => [
    await repeatedRow(bench, 'GET /projects/:id', oneProject),
    await repeatedRow(bench, 'GET /user', ownRecord),
    await repeatedRow(bench, 'GET /projects', projectsAsMember),
    await repeatedRow(bench, 'GET /users', listAsMember),
  ],

  reactions: async (bench) => {
    const rows: Row[] = []
    for (const [what, calls] of writesWithReactions)
      rows.push(await row(`${what}, with all that follows`, '', () => cost(bench, calls, WHOLE)))
    return rows
  },

  write: async (bench) => [
    await row('GET /projects/:id right after a change, by the wall clock', '', () => readAfterWrite(bench)),
    await row('PUT /projects/:id, with all that follows', '', () => cost(bench, smallWrites, WHOLE)),
    await row('PUT /users/:id, with all that follows', '', () => cost(bench, smallUserWrites, WHOLE)),
  ],

  workers: async (bench) => [
    await row('two workers, one request in ten a PUT', '', async () => {
      const server = await bench.fresh(bench.effort.few, 2)
      return cost(bench, readsAndWrites, { manner: 'alone', server })
    }),
  ],

  page: async (bench) => [
    await row('GET /users, per_page=100 over per_page=20', '≤ 3', () =>
      largerPage(bench, largestPage, listAsAdministrator),
    ),
  ],

  async growth(bench) {
    const { few, many } = bench.effort
    const rows: Row[] = []
    const grows = async (name: string, measure: () => Promise<Outcome>) =>
      void rows.push(await row(`${many} users over ${few}: ${name}`, '≤ 1.3', measure))
    for (const [name, call] of growing) await grows(name, () => growth(bench, call))
    await grows('list after a change, by the wall clock', () => growthAfterChange(bench, listAsAdministrator))
    return rows
  },

  projects: async (bench) => [
    await row('GET /projects, per_page=100 over per_page=20', '≤ 3', () =>
      largerPage(bench, largestPageOfProjects, projectsAsMember),
    ),
  ],

  async tree(bench) {
    const { few, many } = bench.effort
    const rows: Row[] = []
    for (const [name, call] of growingProjects) {
      const what = `${many} projects over ${few}, after a change: ${name}`
      rows.push(await row(what, '≤ 1.3', () => growthAfterChange(bench, call)))
    }
    return rows
  },

  async issues(bench) {
    const { few, many } = bench.effort
    const rows: Row[] = []
    for (const [name, call] of growingIssues)
      rows.push(await row(`${many} issues over ${few}: ${name}`, '≤ 1.3', () => growth(bench, call)))
    for (const [name, call] of changingIssues) {
      const what = `${many} issues over ${few}, after a change of one: ${name}`
      rows.push(await row(what, '≤ 1.3', () => growthAfterChange(bench, call, issueChanges)))
    }
    return rows
  },

  async planning(bench) {
    const { few, many } = bench.effort
    const rows: Row[] = []
    for (const [name, call, ofFew = call] of growingPlanning) {
      const what = `${many} issues over ${few}, after a change: ${name}`
      rows.push(await row(what, '≤ 1.3, < 50 ms', () => growthOfPlanning(bench, call, ofFew)))
    }
    return rows
  },

  async git(bench) {
    await using git = await openGitBench(bench, bench.effort.commits)
    const history = `${bench.effort.commits} commits`
    const { rounds } = bench.effort
    return [
      await row(`clone over HTTP, ${history}, against git clone file://`, '≤ 1.15', () => cloneTime(git, rounds)),
      await row('memory of the server while 10 clone at once, over before', 'flat', () => clonesAtOnce(git)),
      await row(`tree page with last commits, ${history}, first after a push`, '< 100 ms', () =>
        treePageTime(git, rounds),
      ),
      await row('archive as tar.gz, against git archive', '≤ 1.25', () => archiveTime(git, rounds)),
    ]
  },

  reads: readRows,

  async writes(bench) {
    await using writing = await openWriteBench(bench)
    return [
      await row('push of one commit over HTTP, against a bare repository', '≤ 1.6', () => pushTime(writing)),
      await row('commit through the API, against a push', '≤ 1', () => commitTime(writing)),
      await row('the same, by processor time of server and children', '≤ 1', () => commitEffort(writing)),
    ]
  },

  async requests(bench) {
    await using requests = await openRequestBench(bench)
    const many = `${bench.effort.mergeRequests} open merge requests`
    return [
      await row('merge request of 50 files: create, with diff and check', '< 100 ms', () => createTime(requests)),
      await row(`push to a branch with ${many}, against one without`, '≤ 1.3', () => pushWithManyOpen(requests)),
      await row(`${many}: until all are judged anew after a push`, '< 5 s', () => freshTime(requests)),
    ]
  },

  async 'request-lists'(bench) {
    const { few, many } = bench.effort
    const rows: Row[] = []
    for (const [name, call] of growingRequests) {
      const what = `${many} merge requests over ${few}: ${name}`
      rows.push(await row(what, '≤ 1.3', () => growth(bench, call, bench.requested)))
    }
    return rows
  },

  async pipelines(bench) {
    const { pipelines } = bench.effort
    const rows: Row[] = []
    for (const [name, call] of growingPipelines) {
      const what = `${pipelines * 10} pipelines of 10 jobs over ${pipelines}: ${name}`
      rows.push(await row(what, '≤ 1.3', () => growth(bench, call, bench.piped)))
    }
    return rows
  },

  async queue(bench) {
    await using queue = await openQueueBench(bench)
    const many = `${bench.effort.jobs} jobs for 50 runners at once`
    return [
      await row('a waiting runner gets a new job after', '< 100 ms', () => pickUpTime(queue)),
      await row(`${many}: request p50, p99, all, processor a request`, 'p99 < 100 ms', () => drainTime(queue)),
    ]
  },

  async 'job-files'(bench) {
    const { artifact } = bench.effort
    await using queue = await openQueueBench(bench)
    const memory = 'memory of the server, over before'
    return [
      await row(`log of ${artifact / 20} MB in patches: ${memory}`, 'flat', () => longLog(queue, artifact / 20)),
      await row(`artifact of ${artifact} MB: ${memory}`, 'flat', () => largeArchive(queue, artifact)),
    ]
  },

  async deliveries(bench) {
    await using deliveries = await openDeliveryBench(bench)
    const many = `${bench.effort.events} events to 100 hooks, 10 dead, 10 slow`
    return [
      await row(`${many}: live ones wait, p99; reads beside; memory`, '< 1 s, < 100 ms', () =>
        spreadEvents(deliveries),
      ),
      await row('one event to 100 hooks: until the last has heard', '< 1 s', () => oneToMany(deliveries)),
    ]
  },

  async backup(bench) {
    const { backup: megabytes } = bench.effort
    await using backups = await openBackupBench(bench, megabytes)
    const isLarge = megabytes >= 1024
    const against = `of ${megabytes} MB, against a copy of the files`
    return [
      await row(`first backup ${against}`, '', async () => asOutcome(await backups.first())),
      await row(`backup after one commit ${against}`, '', async () => asOutcome(await backups.next())),
      await row(`restore ${against}`, isLarge ? '≤ 2' : '', async () => asOutcome(await backups.restore(), isLarge)),
    ]
  },

  async pages(bench) {
    await using git = await openGitBench(bench, bench.effort.commits)
    const home = homeOf(git)
    return [
      ...(await pageRows(git)),
      ...(await manyFilesRows(bench, git, home)),
      ...(await longLogRows(bench, git, home)),
    ]
  },

  load: async (bench) => [await row('p99 of 500 mixed reads/s', '< 100 ms, 0 errors', () => steadyLoad(bench))],
} satisfies Record<string, (bench: Bench) => Promise<Row[]>>

async function row(what: string, target: string, measure: () => Promise<Outcome>): Promise<Row> {
  try {
    return { what, target, ...(await measure()) }
  } catch (error) {
    const { message } = error as Error
    process.stderr.write(`${what}: ${message}\n`)
    return { what, target, ours: message.split('\n', 1)[0]!, floor: '', ratio: null, met: false }
  }
}

async function startToReady({ effort, postgres }: Bench): Promise<Outcome> {
  const { ours, floor, ratio } = await alternately(
    effort.starts,
    async () => {
      await using serverFolder = await makeServerFolder(postgres, 0)
      await using server = await startOurs(serverFolder)
      return server.startMs
    },
    async () => {
      await using server = await startFloor()
      return server.startMs
    },
  )
  return { ours: ms(ours), floor: ms(floor), ratio, met: ours < 1000 }
}

async function memoryIdle(bench: Bench): Promise<Outcome> {
  const ours = await bench.fresh(0)
  const floor = await bench.floor()
  await sleep(bench.effort.idleSeconds * 1000)
  const [used, base] = [await residentMemory(ours.pid), await residentMemory(floor.pid)]
  return { ours: megabytes(used), floor: megabytes(base), ratio: used / base, met: used < 180 * MB }
}

/** Over the memory of the same server at its start. */
async function memoryUsed(
  bench: Bench,
  load: (bench: Bench, ours: OurServer) => Promise<{ calls: readonly Call[]; count: number }>,
): Promise<Outcome> {
  const ours = await bench.fresh(bench.effort.few)
  const start = await residentMemory(ours.pid)
  const { calls, count } = await load(bench, ours)
  await closedLoop(ours.port, calls, { connections: 16, count })
  const used = await residentMemory(ours.pid)
  return { ours: megabytes(used), floor: megabytes(start), ratio: used / start, met: used < MOST_MEMORY }
}

const mixedLoad = async ({ effort }: Bench) => ({ calls: [...mixed, ...readsAndWrites], count: effort.mixedRequests })

async function pageLoads({ effort }: Bench, ours: OurServer) {
  const { body } = await capture(ours.port, namesOfProjects)
  const projects = JSON.parse(body) as { path_with_namespace: string }[]
  return { calls: pagesOf(projects.map((project) => project.path_with_namespace)), count: effort.pageLoads }
}

const rotatingRow = (bench: Bench, what: string, calls: readonly Call[], atMost: number) =>
  row(`${what}, rotating, beside commits`, `≤ ${atMost}${bench.postgres ? ' + engine' : ''}`, () =>
    cost(bench, calls, { manner: 'beside commits', atMost }),
  )

const repeatedRow = (bench: Bench, what: string, call: Call) =>
  row(`${what}, the same again and again`, '', () => cost(bench, [call], { manner: 'alone' }))

interface CostOptions {
  manner: Manner
  /** A multiple of the floor; the time of the database may come on top. */
  atMost?: number
  server?: OurServer
}

const WHOLE: CostOptions = { manner: 'one by one until quiet' }

/** CPU time per request; the ratio excludes the processes of a database server. */
async function cost(bench: Bench, calls: readonly Call[], { manner, atMost, server }: CostOptions): Promise<Outcome> {
  const { ours, floor, ratio, engine } = await compareCost(bench, server ?? (await bench.few()), calls, manner)
  return {
    ours: bench.postgres ? `${ms(ours)} + ${ms(engine)}` : ms(ours),
    floor: ms(floor),
    ratio,
    met: atMost === undefined ? null : ratio <= atMost + engine / floor,
  }
}

async function readAfterWrite(bench: Bench): Promise<Outcome> {
  const server = await bench.few()
  const floor = await bench.floor()
  await floor.serve(
    await Promise.all(smallWrites.map(({ path, token }) => capture(server.port, { path, token: token! }))),
  )
  const reads = rotatingProject.slice(0, smallWrites.length)
  const side =
    ({ port }: Server) =>
    () =>
      afterChanges(port, smallWrites.slice(0, bench.effort.writes), reads)
  const { ours, floor: least, ratio } = await alternately(bench.effort.rounds, side(server), side(floor))
  return { ours: ms(ours), floor: ms(least), ratio, met: null }
}

async function largerPage(bench: Bench, largest: Call, smaller: Call): Promise<Outcome> {
  const server = await bench.few()
  const [large, usual] = [largest, smaller].map((call) => ({ server, call }))
  const times = await compare(bench, large!, usual!, bench.effort.seconds)
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met: times.ratio <= 3 }
}

async function growth(bench: Bench, call: Call, servers: Pick<Bench, 'few' | 'many'> = bench): Promise<Outcome> {
  const [large, small] = [await servers.many(), await servers.few()]
  const times = await compare(bench, { server: large, call }, { server: small, call }, bench.effort.seconds / 4)
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met: times.ratio <= 1.3 }
}

async function growthAfterChange(bench: Bench, call: Call, changing = changes): Promise<Outcome> {
  const [large, small] = [await bench.many(), await bench.few()]
  const side =
    ({ port }: Server) =>
    () =>
      afterChanges(port, changing(CHANGES_A_ROUND / 2), [call])
  const times = await alternately(bench.effort.rounds, side(large), side(small))
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met: times.ratio <= 1.3 }
}

const MOST_MS = 50

/** CPU time of calls that each follow changes by another process. */
async function growthOfPlanning(bench: Bench, call: Call, ofFew: Call): Promise<Outcome> {
  const side = (server: OurServer, call: Call) => () => costAfterChanges(bench, server, CHANGES_A_ROUND, call)
  const [large, small] = [side(await bench.planned.many(), call), side(await bench.planned.few(), ofFew)]
  await alternately(1, large, small)
  const times = await alternately(bench.effort.rounds, large, small)
  const met = times.ratio <= 1.3 && times.ours < MOST_MS
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met }
}

async function steadyLoad(bench: Bench): Promise<Outcome> {
  const ours = await bench.many()
  const floor = await bench.floor()
  await floor.serve(await Promise.all(mixed.map((call) => capture(ours.port, call))))
  const { openSeconds: seconds } = bench.effort
  const load = { connections: OPEN_CONNECTIONS, rate: 500 }
  const { p99, errors } = await openLoop(ours.port, mixed, { ...load, seconds })
  const least = await openLoop(floor.port, mixed, { ...load, seconds: seconds / 2 })
  const figures = errors > 0 ? `${ms(p99)}, ${errors} errors` : ms(p99)
  return { ours: figures, floor: ms(least.p99), ratio: p99 / least.p99, met: p99 < 100 && errors === 0 }
}
