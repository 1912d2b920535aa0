/**
 * Reads of git compared with a bare server that sends the same bytes: CPU time of the server with all its children.
 * URLs rotate, and a commit is pushed before every round, so that the measurement is realistic.
 */
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { alternately, type Bench } from './bench.ts'
import type { Captured } from './floor.ts'
import { openGitBench, type GitBench } from './git.ts'
import { closedLoop, type Call } from './load.ts'
import { ADMINISTRATOR } from './seed.ts'
import { capture, type Floor, type Server } from './servers.ts'
import { ms, type Row } from './table.ts'

const COMMITS = 2000
const BRANCHES = 40
const CONNECTIONS = 8
const TICK_MS = 10
const CALLS_A_ROUND = 10

export async function readRows(bench: Bench): Promise<Row[]> {
  await using git = await openGitBench(bench, Math.min(COMMITS, bench.effort.commits))
  await addBranches(git)
  const floor = await bench.floor()
  const rows: Row[] = []
  for (const [what, most, addresses] of await kinds(git)) {
    const path = new URL(git.api).pathname
    const calls = addresses.map((address): Call => ({ path: `${path}/${address}`, token: ADMINISTRATOR }))
    rows.push(await readRow(bench, git, floor, { what, most, calls }))
  }
  return [...rows, ...(await remoteRows(bench, git))]
}

async function addBranches({ git, folder }: GitBench): Promise<void> {
  for (let n = 0; n < BRANCHES; n++) await git('-C', folder, 'branch', `work-${n}`, `master~${n * 3}`)
  await git('clone', '-q', '--depth=1', `file://${folder}`, 'reads')
}

type Kind = readonly [what: string, most: number, addresses: string[]]

async function kinds({ git, folder }: GitBench): Promise<Kind[]> {
  const ids = (await git('-C', folder, 'rev-list', '--max-count=200', 'master')).split('\n')
  const files = (await git('-C', folder, 'ls-tree', '-r', '--name-only', 'master')).split('\n').slice(0, 200)
  const file = (name: string) => `files/${encodeURIComponent(name)}`
  const pages = (count: number) => Array.from({ length: count }, (_, n) => n + 1)
  return [
    ['raw file', 10, files.map((name) => `${file(name)}/raw?ref=master`)],
    ['base64 file', 12, files.map((name) => `${file(name)}?ref=master`)],
    [
      'commits (20)',
      30,
      ['master', 'work-1', 'work-2', 'work-3'].flatMap((ref) =>
        pages(5).map((page) => `commits?ref_name=${ref}&page=${page}`),
      ),
    ],
    ['branches (20)', 30, pages(2).map((page) => `branches?page=${page}`)],
    [
      'recursive tree (100)',
      30,
      ['master', 'work-3'].flatMap((ref) =>
        pages(4).map((page) => `tree?recursive=true&per_page=100&ref=${ref}&page=${page}`),
      ),
    ],
    ['diff of one commit', 30, ids.map((id) => `commits/${id}/diff`)],
    ['one commit', 30, ids.map((id) => `commits/${id}`)],
    ['archive (tar.gz)', 30, ids.slice(0, 5).map((id) => `archive.tar.gz?sha=${id}`)],
  ]
}

interface ReadOptions {
  readonly what: string
  readonly most: number
  readonly calls: readonly Call[]
}

async function readRow(bench: Bench, git: GitBench, floor: Floor, { what, most, calls }: ReadOptions): Promise<Row> {
  const { server } = git
  const captured: Captured[] = []
  for (const call of calls) captured.push(await captureKnown(server, call))
  await floor.serve(captured)
  const { rounds, seconds } = bench.effort
  const burst = (server: Server) => timeEach(server, calls, seconds)
  const ours = async () => {
    await pushChange(git)
    return burst(server)
  }
  await alternately(1, ours, () => burst(floor))
  const times = await alternately(rounds, ours, () => burst(floor))
  return {
    what: `${what}, rotating, a push before each round`,
    target: `≤ ${most}`,
    ours: ms(times.ours),
    floor: ms(times.floor),
    ratio: times.ratio,
    met: times.ratio <= most,
  }
}

/** The answer from the second time on. */
async function captureKnown({ port }: Server, call: Call): Promise<Captured> {
  await capture(port, call)
  const known = await capture(port, call)
  const length = Number(known.headers[known.headers.findIndex((name) => /^content-length$/i.test(name)) + 1])
  // An archive is not text; as many other bytes cost as much to send.
  return Buffer.byteLength(known.body) === length ? known : { ...known, body: 'x'.repeat(length) }
}

let changes = 0

/** Directly into the folder: the cost of a push is measured elsewhere. */
async function pushChange({ git, folder, work }: GitBench): Promise<void> {
  const n = ++changes
  await writeFile(join(work, 'reads', `folder${n % 20}`, `file${n % 20}.txt`), `Round ${n}\n`)
  await git('-C', 'reads', 'commit', '-q', '-a', '-m', `Round ${n}`)
  await git('-C', 'reads', 'push', '-q', `file://${folder}`, 'HEAD:refs/heads/master')
}

async function timeEach({ pid, port }: Server, calls: readonly Call[], seconds: number): Promise<number> {
  const start = await wholeProcessorTime(pid)
  const answered = await closedLoop(port, calls, { connections: CONNECTIONS, count: Infinity, seconds })
  return Math.max((await wholeProcessorTime(pid)) - start, TICK_MS) / answered
}

/**
 * Requests of git clients, compared with the same from a folder. Half of `ls-remote` over HTTP is the client's own
 * helper, which no server can change: there only our part is counted.
 */
async function remoteRows({ effort }: Bench, bench: GitBench): Promise<Row[]> {
  const { git, address, folder, work, server } = bench
  const own = () => wholeProcessorTime(server.pid)
  // All except this process, which is the parent of both server and clients.
  const all = async () => {
    const { user, system } = process.cpuUsage()
    return (await wholeProcessorTime(process.pid)) - (user + system) / 1000
  }
  const timed = async (clock: () => Promise<number>, run: () => Promise<unknown>) => {
    const start = await clock()
    for (let n = 0; n < CALLS_A_ROUND; n++) await run()
    return ((await clock()) - start) / CALLS_A_ROUND
  }
  const list = (from: string) => () => git('ls-remote', from)
  const clone = (from: string) => async () => {
    await git('clone', '-q', '--bare', '--depth=1', from, 'shallow')
    await rm(join(work, 'shallow'), { recursive: true, force: true })
  }
  const local = `file://${folder}`
  const row = async (what: string, most: number, ours: () => Promise<number>, floor: () => Promise<number>) => {
    const times = await alternately(effort.rounds, ours, floor)
    const figures = { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio }
    return { what, target: `≤ ${most}`, ...figures, met: times.ratio <= most }
  }
  await list(address)()
  return [
    await row(
      "ls-remote over HTTP, the server's part, against git ls-remote file://",
      1,
      () => timed(own, list(address)),
      () => timed(all, list(local)),
    ),
    await row(
      'clone --depth=1 over HTTP, server and client, against file://',
      1,
      () => timed(all, clone(address)),
      () => timed(all, clone(local)),
    ),
  ]
}

/** Milliseconds of CPU time of a process and all its descendants. */
export async function wholeProcessorTime(root: number): Promise<number> {
  const found = new Map<number, { parent: number; ticks: number }>()
  for (const name of await readdir('/proc')) {
    const text = /^\d+$/.test(name) ? await readFile(`/proc/${name}/stat`, 'latin1').catch(() => '') : ''
    // After the program name, which may contain anything.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    if (text !== '') found.set(Number(name), { parent: Number(fields[1]), ticks })
  }
  const isBelow = (pid: number): boolean => {
    const one = found.get(pid)
    return one !== undefined && (pid === root || isBelow(one.parent))
  }
  return [...found].reduce((sum, [pid, { ticks }]) => (isBelow(pid) ? sum + ticks : sum), 0) * TICK_MS
}
