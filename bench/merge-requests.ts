/** The cost of many open merge requests for pushes to their target branch, and how soon all are checked again. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { openStore } from '../src/store/open.ts'
import { alternately, type Bench } from './bench.ts'
import { openGitBench, type GitBench } from './git.ts'
import { median } from './load.ts'
import { ADMINISTRATOR } from './seed.ts'
import { ms, type Row } from './table.ts'

const COMMITS = 500
const FILES = 50
const POSTS_AT_ONCE = 4
const CREATED = 20
const POLL_MS = 10
const LONGEST_WAIT_MS = 120_000

type Outcome = Omit<Row, 'what' | 'target'>

export interface RequestBench extends AsyncDisposable {
  readonly rounds: number
  /** Pushes a commit to a branch; resolves to the milliseconds that the caller waited. */
  push(branch: string): Promise<number>
  /** Waits until every merge request has been checked for the current commits. */
  allFresh(): Promise<void>
  /** Creates a merge request with many files. */
  create(): Promise<number>
}

export async function openRequestBench(bench: Bench): Promise<RequestBench> {
  const stack = new AsyncDisposableStack()
  const git = stack.use(await openGitBench(bench, COMMITS))
  const store = await openStore(git.server.databaseUrl, { durable: false, shared: true, poolSize: 1 })
  stack.defer(() => store.close())
  await git.git('clone', '-q', git.address, 'pushing')
  const { mergeRequests } = bench.effort
  await branchesOf(join(git.work, 'pushing'), 'few', mergeRequests, 1)
  await branchesOf(join(git.work, 'pushing'), 'many', CREATED, FILES)
  await git.git('-C', 'pushing', 'push', '-q', git.address, 'refs/heads/*:refs/heads/*', 'master:refs/heads/quiet')
  const open = opener(git)
  for (let n = 0; n < mergeRequests; n += POSTS_AT_ONCE) {
    const some = Array.from({ length: Math.min(POSTS_AT_ONCE, mergeRequests - n) }, (_, at) => open(`few${n + at}`))
    await Promise.all(some)
  }
  let pushed = 0
  let created = 0
  return {
    rounds: bench.effort.rounds,
    async push(branch) {
      await git.git('-C', 'pushing', 'checkout', '-q', '--detach')

      await git.git('-C', 'pushing', 'fetch', '-q', git.address, `refs/heads/${branch}`)
      await git.git('-C', 'pushing', 'reset', '-q', '--hard', 'FETCH_HEAD')
      await git.git('-C', 'pushing', 'commit', '-q', '--allow-empty', '-m', `Push ${++pushed}`)
      return timed(() => git.git('-C', 'pushing', 'push', '-q', git.address, `HEAD:refs/heads/${branch}`))
    },
    async allFresh() {
      const end = performance.now() + LONGEST_WAIT_MS
      while (performance.now() < end) {
        const { rows } = await sql<{ id: number }>`select m.id from merge_requests m
          join merge_targets t on t.project_id = m.project_id and t.branch = m.target_branch
          where m.state = 'opened' and (m.check_target is null or m.check_target <> t.sha) limit 1`.execute(store.db)
        if (rows.length === 0) return
        await sleep(POLL_MS)
      }
      throw new Error('not all were judged in time')
    },
    create: () => timed(() => open(`many${created++}`)),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Branches with one commit each on top of `master`. */
async function branchesOf(dir: string, name: string, count: number, files: number): Promise<void> {
  const child = spawn('git', ['-C', dir, 'fast-import', '--quiet'], { stdio: ['pipe', 'inherit', 'inherit'] })
  for (let n = 0; n < count; n++) {
    const changes = Array.from({ length: files }, (_, at) => {
      const text = `${`Words of ${n} and ${at}.\n`.repeat(20)}`
      return `M 644 inline folder${n % 20}/${name}${n}-${at}.txt\ndata ${text.length}\n${text}\n`
    })
    const commit =
      `commit refs/heads/${name}${n}\ncommitter Ada <ada@example.com> ${1_700_000_000 + n} +0000\n` +
      `data 4\nWork\nfrom refs/remotes/origin/master^0\n${changes.join('')}`
    if (!child.stdin.write(commit)) await once(child.stdin, 'drain')
  }
  child.stdin.end()
  await once(child, 'exit')
}

const opener =
  ({ api }: GitBench) =>
  async (source_branch: string): Promise<void> => {
    const url = api.replace(/\/repository$/, '/merge_requests')
    const headers = { 'PRIVATE-TOKEN': ADMINISTRATOR, 'Content-Type': 'application/json' }
    const body = JSON.stringify({ source_branch, target_branch: 'master', title: source_branch })
    const answer = await fetch(url, { method: 'POST', headers, body })
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${text}`)
  }

export async function createTime({ create }: RequestBench): Promise<Outcome> {
  const times: number[] = []
  for (let n = 0; n < CREATED; n++) times.push(await create())
  return { ours: ms(median(times)), floor: '', ratio: null, met: median(times) < 100 }
}

/** Pushes to the target branch of all, compared with a branch that is no target. */
export async function pushWithManyOpen({ rounds, push, allFresh }: RequestBench): Promise<Outcome> {
  const to = (branch: string) => async () => {
    const time = await push(branch)
    await allFresh()
    return time
  }
  const { ours, floor, ratio } = await alternately(rounds * 3, to('master'), to('quiet'))
  return { ours: ms(ours), floor: ms(floor), ratio, met: ratio <= 1.3 }
}

export async function freshTime({ rounds, push, allFresh }: RequestBench): Promise<Outcome> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    await push('master')
    times.push(await timed(allFresh))
  }
  return { ours: ms(median(times)), floor: '', ratio: null, met: median(times) < 5000 }
}
