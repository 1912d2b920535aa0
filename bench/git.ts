/** Git through the server compared with plain git on the same repository, in one run. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { lastCommits } from '../src/git/history/last-commits.ts'
import { closeReaders } from '../src/git/process/readers.ts'
import { alternately, type Bench } from './bench.ts'
import { median } from './load.ts'
import { ADMINISTRATOR } from './seed.ts'
import { makeServerFolder, memoryDuring, memoryOutcome, startOurs, type OurServer } from './servers.ts'
import { ms, type Row } from './table.ts'

const run = promisify(execFile)
const MB = 1024 * 1024
const FILES = 400
const CLONES_AT_ONCE = 10
const MOST_GROWTH = 64 * MB

type Outcome = Omit<Row, 'what' | 'target'>

export interface GitBench extends AsyncDisposable {
  readonly server: OurServer
  /** The URL for git clients, with credentials. */
  readonly address: string
  /** The API path of its repository. */
  readonly api: string
  /** The folder of the same repository. */
  readonly folder: string
  readonly work: string
  git(...args: string[]): Promise<string>
}

export async function openGitBench({ postgres }: Bench, commits: number): Promise<GitBench> {
  const stack = new AsyncDisposableStack()
  const work = await mkdtemp(join(tmpdir(), 'mortise-bench-git-'))
  stack.defer(() => rm(work, { recursive: true, force: true }))
  const serverFolder = stack.use(await makeServerFolder(postgres, 1000))
  const server = stack.use(await startOurs(serverFolder))
  const env = { PATH: process.env.PATH, HOME: work, GIT_CONFIG_NOSYSTEM: '1', ...IDENTITY }
  const git = async (...args: string[]) =>
    (await run('git', args, { cwd: work, env, maxBuffer: 64 * MB })).stdout.trim()
  await git('init', '-q', '--bare', 'history.git')
  await importHistory(join(work, 'history.git'), commits)
  const answer = await fetch(`http://127.0.0.1:${server.port}/api/v4/projects`, {
    method: 'POST',
    headers: { 'PRIVATE-TOKEN': ADMINISTRATOR, 'Content-Type': 'application/json' },
    body: JSON.stringify({ path: 'bench' }),
  })
  const { id, path_with_namespace: path } = (await answer.json()) as { id: number; path_with_namespace: string }
  const api = `http://127.0.0.1:${server.port}/api/v4/projects/${id}/repository`
  const address = `http://bench:${ADMINISTRATOR}@127.0.0.1:${server.port}/${path}.git`
  await git('-C', 'history.git', 'push', '-q', address, 'master')
  const [folder] = globSync(join(serverFolder.data, 'repositories/*/*/*.git'))
  return { server, address, api, folder: folder!, work, git, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const IDENTITY = Object.fromEntries(
  ['AUTHOR', 'COMMITTER'].flatMap((role) => [
    [`GIT_${role}_NAME`, 'Ada'],
    [`GIT_${role}_EMAIL`, 'ada@example.com'],
  ]),
)

/** A long history of small changes to a few hundred files. */
async function importHistory(dir: string, commits: number): Promise<void> {
  const child = spawn('git', ['-C', dir, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  for (let n = 1; n <= commits; n++) {
    const text = `${'Some words that stay the same.\n'.repeat(30)}Change ${n} of many.\n`
    const message = `Change ${n}\n`
    const commit =
      `commit refs/heads/master\ncommitter Ada <ada@example.com> ${1_600_000_000 + n * 60} +0000\n` +
      `data ${message.length}\n${message}M 644 inline folder${n % 20}/file${n % FILES}.txt\ndata ${text.length}\n${text}\n`
    if (!child.stdin.write(commit)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  await once(child, 'exit')
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export async function cloneTime({ git, address, folder, work }: GitBench, rounds: number): Promise<Outcome> {
  const clone = (from: string) => async () => {
    const time = await timed(() => git('clone', '-q', '--bare', from, 'copy'))
    await rm(join(work, 'copy'), { recursive: true, force: true })
    return time
  }
  const times = await alternately(rounds, clone(address), clone(`file://${folder}`))
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met: times.ratio <= 1.15 }
}

/**
 * How much the server process itself grows during many concurrent clones; the memory of git processes is not counted.
 */
export async function clonesAtOnce({ git, address, server }: GitBench): Promise<Outcome> {
  await git('clone', '-q', '--bare', address, 'first')
  const memory = await memoryDuring(server, () =>
    Promise.all(Array.from({ length: CLONES_AT_ONCE }, (_, n) => git('clone', '-q', '--bare', address, `c${n}`))),
  )
  return memoryOutcome(memory, MOST_GROWTH)
}

const fetched = (url: string) => async () => {
  const answer = await fetch(url, { headers: { 'PRIVATE-TOKEN': ADMINISTRATOR } })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`)
  for await (const _ of answer.body!) continue
}

/**
 * The first page after each of many pushes: the folder from the server, and the last commits as the kit finds them,
 * which no endpoint returns.
 */
export async function treePageTime({ git, address, api, folder }: GitBench, rounds: number): Promise<Outcome> {
  await git('clone', '-q', '--depth=1', `file://${folder}`, 'pages')
  const show = () => Promise.all([fetched(`${api}/tree?per_page=100`)(), lastCommits(folder, 'refs/heads/master')])
  await show()
  const times: number[] = []
  for (let round = 0; round < rounds * 3; round++) {
    await git('-C', 'pages', 'rm', '-q', `folder${round % 20}/file${round}.txt`)
    await git('-C', 'pages', 'commit', '-q', '-m', `Page ${round}`)
    await git('-C', 'pages', 'push', '-q', address, 'HEAD:refs/heads/master')
    times.push(await timed(show))
  }
  closeReaders(folder)
  return { ours: ms(median(times)), floor: '', ratio: null, met: median(times) < 100 }
}

export async function archiveTime({ git, api, folder }: GitBench, rounds: number): Promise<Outcome> {
  const ours = () => timed(fetched(`${api}/archive.tar.gz?sha=master`))
  const floor = () => timed(() => git('-C', folder, 'archive', '--format=tar.gz', '--output=/dev/null', 'master'))
  const times = await alternately(rounds * 3, ours, floor)
  return { ours: ms(times.ours), floor: ms(times.floor), ratio: times.ratio, met: times.ratio <= 1.25 }
}
