/**
 * The cost of a change to a repository: a push compared with plain git, and a commit through the API compared with a
 * push.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { alternately, type Bench, type Compared } from './bench.ts'
import { openGitBench, type GitBench } from './git.ts'
import { ADMINISTRATOR } from './seed.ts'
import { ms, type Row } from './table.ts'

const COMMITS = 500
const FILE = 'folder3/file3.txt'
/** The time until the background work of a change has finished. */
const AFTERMATH_MS = 150
/** CPU time is counted in hundredths of a second, so a round has several writes. */
const A_ROUND = 5

type Outcome = Omit<Row, 'what' | 'target'>

export interface WriteBench extends AsyncDisposable {
  readonly rounds: number
  /** The process id of the server. */
  readonly pid: number
  readonly push: Write
  readonly pushLocally: Write
  readonly commit: Write
}

export async function openWriteBench(bench: Bench): Promise<WriteBench> {
  const git = await openGitBench(bench, COMMITS)
  const { pushTo, commit } = await writersOf(git)
  const push = pushTo(git.address)
  await alternately(A_ROUND, commit, push)
  return {
    rounds: bench.effort.rounds,
    pid: git.server.pid,
    push,
    pushLocally: pushTo('../local.git'),
    commit,
    [Symbol.asyncDispose]: () => git[Symbol.asyncDispose](),
  }
}

export async function pushTime({ rounds, push, pushLocally }: WriteBench): Promise<Outcome> {
  return outcomeOf(await alternately(rounds * 3, push, pushLocally), 1.6)
}

export async function commitTime({ rounds, push, commit }: WriteBench): Promise<Outcome> {
  return outcomeOf(await alternately(rounds * 3, commit, push), 1)
}

/** By CPU time of the server and its children. */
export async function commitEffort({ rounds, pid, push, commit }: WriteBench): Promise<Outcome> {
  return outcomeOf(await alternately(rounds, effort(pid, commit), effort(pid, push)), 1)
}

const outcomeOf = ({ ours, floor, ratio }: Compared, most: number): Outcome => ({
  ours: ms(ours),
  floor: ms(floor),
  ratio,
  met: ratio <= most,
})

type Write = () => Promise<number>

/** Each makes one change to one file, and resolves to the milliseconds that the caller waited. */
async function writersOf({ git, api, folder }: GitBench) {
  await git('clone', '-q', '--bare', folder, 'local.git')
  await git('clone', '-q', '--depth=1', `file://${folder}`, 'writing')
  let n = 0
  const pushTo =
    (to: string): Write =>
    async () => {
      const branch = `refs/heads/work${++n}`
      await git('-C', 'writing', 'reset', '-q', '--hard', 'origin/master')
      await git('-C', 'writing', 'mv', FILE, `folder3/moved${n}.txt`)
      await git('-C', 'writing', 'commit', '-q', '-m', `Work ${n}`)
      return timed(() => git('-C', 'writing', 'push', '-q', to, `HEAD:${branch}`))
    }
  const commit: Write = () => {
    const branch = `work-by-api${++n}`
    const actions = [{ action: 'move', previous_path: FILE, file_path: `folder3/moved${n}.txt` }]
    const input = { branch, start_branch: 'master', commit_message: `Work ${n}`, actions }
    return timed(() => post(`${api}/commits`, input))
  }
  return { pushTo, commit }
}

async function post(url: string, input: object): Promise<void> {
  const headers = { 'PRIVATE-TOKEN': ADMINISTRATOR, 'Content-Type': 'application/json' }
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(input) })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`${url} answered ${answer.status}: ${text}`)
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

/** Milliseconds of CPU time for one write, with its background work. */
const effort =
  (pid: number, write: Write): Write =>
  async () => {
    const start = processorTime(pid)
    for (let n = 0; n < A_ROUND; n++) {
      await write()
      await sleep(AFTERMATH_MS)
    }
    return (processorTime(pid) - start) / A_ROUND
  }

const TICK_MS = 10

interface Spent {
  readonly pid: number
  readonly parent: number
  readonly ticks: number
}

/** CPU time of a process and all its descendants, including ended ones. */
function processorTime(root: number): number {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? spentBy(Number(name)) : []))
  const sum = (pid: number): number =>
    all.reduce((total, one) => total + (one.pid === pid ? one.ticks : one.parent === pid ? sum(one.pid) : 0), 0)
  return sum(root) * TICK_MS
}

function spentBy(pid: number): Spent[] {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)!.split(' ').map(Number)
    return [{ pid, parent: fields[1]!, ticks: fields[11]! + fields[12]! + fields[13]! + fields[14]! }]
  } catch {
    // It has just ended.
    return []
  }
}
