/** The concurrent work while a server of the kill trials dies, with a record of everything that was answered. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { workspace } from '../workspace.ts'
import { CutOff, isInterruption } from './kill-ledger.ts'
import { type Body, MORTISE_ROOT_TOKEN, call, commit } from './merge-crash.ts'

export const KINDS = ['git push', 'push option', 'API commit', 'merge', 'issue and hook', 'CI job'] as const
export type Kind = (typeof KINDS)[number]

const CONFIG = 'build: { script: x }\n'
const PUSHES = 12
const MERGES = 3
/** Slows them down, so that other kinds of work keep up. */
const ISSUE_PAUSE_MS = 40
const QUEUE_PAUSE_MS = 20

/** A repository to push from, for all trials: a first commit, a line of commits, and topic branches. */
export async function source() {
  const work = await workspace()
  const { git } = work
  const made = async (...args: string[]) => {
    const { code, stdout, stderr } = await git(...args)
    if (code !== 0) throw new Error(stderr)
    return stdout
  }
  await made('init', '-q', '-b', 'master', '.')
  await writeFile(join(work.folder, '.gitlab-ci.yml'), CONFIG)
  await made('add', '.')
  await made('commit', '-q', '-m', 'Begin')
  const first = await made('rev-parse', 'HEAD')
  const commitOn = (parent: string, message: string) =>
    made('commit-tree', '-p', parent, '-m', message, `${parent}^{tree}`)
  const line: string[] = []
  const topics: string[] = []
  for (let n = 0; n < PUSHES; n++) {
    line.push(await commitOn(line.at(-1) ?? first, `Line ${n}`))
    topics.push(await commitOn(first, `Topic ${n}`))
  }
  return { git, first, line, topics, [Symbol.asyncDispose]: work[Symbol.asyncDispose] }
}

export type Source = Awaited<ReturnType<typeof source>>

export interface Job {
  readonly id: number
  readonly token: string
}

/** A project, and what was answered about it before the kill. */
export interface Trial {
  readonly source: Source
  readonly at: string
  readonly path: string
  readonly runner: string
  readonly answered: { readonly [kind in Kind]: string[] }
  /** Jobs that the runner was given, and their order. */
  readonly given: Map<number, Job>
  readonly taken: number[]
  /** The kinds of requests that the kill interrupted. */
  readonly cutOff: Kind[]
  /** Rejected requests, and failures before the kill. */
  readonly faults: string[]
  isKilled: boolean
}

/** Counts the slow kinds of work. Issues and jobs would outnumber them. */
export const countMoves = ({ answered }: Trial) =>
  answered['git push'].length + answered['push option'].length + answered['API commit'].length + answered.merge.length

const addressOf = (url: string, path: string) =>
  `${url.replace('://', `://root:${MORTISE_ROOT_TOKEN}@`)}/root/${path}.git`

/** A project with a CI file, a hook, a runner and merge requests. */
export async function prepare(url: string, source: Source, path: string, hook: string): Promise<Trial> {
  const { id, runners_token } = await call(url, 'POST', '/projects', {
    path,
    auto_cancel_pending_pipelines: 'disabled',
  })
  const at = `/projects/${id}`
  const begun = await source.git('push', '-q', addressOf(url, path), `${source.first}:refs/heads/master`)
  if (begun.code !== 0) throw new Error(begun.stderr)
  await call(url, 'POST', `${at}/hooks`, { url: hook, push_events: true, issues_events: true })
  const { token: runner } = await call(url, 'POST', '/runners', { token: runners_token })
  for (let n = 1; n <= MERGES; n++) {
    const source_branch = `feature${n}`
    await commit(url, at, source_branch, `${source_branch}.txt`, 'master')
    await call(url, 'POST', `${at}/merge_requests`, { source_branch, target_branch: 'master', title: source_branch })
  }
  const answered = Object.fromEntries(KINDS.map((kind) => [kind, [] as string[]])) as Record<Kind, string[]>
  return { source, at, path, runner, answered, given: new Map(), taken: [], cutOff: [], faults: [], isKilled: false }
}

/** A request that the kill interrupted is no fault; everything else is, rejections above all. */
async function untilKilled(trial: Trial, kind: Kind, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (isInterruption(error) && trial.isKilled) trial.cutOff.push(kind)
    else trial.faults.push((error as Error).message)
  }
}

const isRefusal = (stderr: string) => /rejected|returned error: [45]|denied|WARNINGS/.test(stderr)

async function push(url: string, { source, path }: Trial, update: string, ...options: string[]): Promise<void> {
  const given = options.flatMap((option) => ['-o', option])
  const { code, stderr } = await source.git('push', '-q', ...given, addressOf(url, path), update)
  if (isRefusal(stderr)) throw new Error(`git push ${update}: ${stderr}`)
  if (code !== 0) throw new CutOff(`git push ${update}: ${stderr}`)
}

/** Acts as a runner: reports that the job is running, and that it has finished. */
async function finish(url: string, { id, token }: Job): Promise<void> {
  await call(url, 'PUT', `/jobs/${id}`, { token, state: 'running' })
  await call(url, 'PUT', `/jobs/${id}`, { token, state: 'success' })
}

async function takeJob(url: string, { runner, given, taken }: Trial): Promise<Job | null> {
  const { id, token } = await call(url, 'POST', '/jobs/request', { token: runner })
  if (id === undefined) return null
  given.set(id, { id, token })
  taken.push(id)
  return { id, token }
}

/** Runs until the server is dead. */
export async function workOn(url: string, trial: Trial): Promise<void> {
  const { at, path, answered, source } = trial
  await Promise.all([
    untilKilled(trial, 'git push', async () => {
      for (const sha of source.line) {
        await push(url, trial, `${sha}:refs/heads/line`)
        answered['git push'].push(sha)
      }
    }),
    untilKilled(trial, 'push option', async () => {
      for (const [n, sha] of source.topics.entries()) {
        await push(url, trial, `${sha}:refs/heads/topic${n}`, 'merge_request.create')
        answered['push option'].push(`topic${n}`)
      }
    }),
    untilKilled(trial, 'API commit', async () => {
      // Every other commit gets in the way of merges.
      for (let n = 0; !trial.isKilled; n++) {
        const branch = n % 2 === 0 ? 'master' : 'side'
        const made = await commit(url, at, branch, `${n}.txt`, n === 1 ? 'master' : undefined)
        answered['API commit'].push(`${branch} ${made.id}`)
      }
    }),
    untilKilled(trial, 'merge', async () => {
      for (let iid = 1; iid <= MERGES; iid++) {
        await call(url, 'PUT', `${at}/merge_requests/${iid}/merge`, {})
        answered.merge.push(`feature${iid}`)
      }
    }),
    untilKilled(trial, 'issue and hook', async () => {
      for (let n = 0; !trial.isKilled; n++) {
        await call(url, 'POST', `${at}/issues`, { title: `${path} ${n}` })
        answered['issue and hook'].push(`${path} ${n}`)
        await sleep(ISSUE_PAUSE_MS)
      }
    }),
    untilKilled(trial, 'CI job', async () => {
      while (!trial.isKilled) {
        const job = await takeJob(url, trial)
        if (!job) {
          await sleep(QUEUE_PAUSE_MS)
          continue
        }
        await finish(url, job)
        answered['CI job'].push(String(job.id))
      }
    }),
  ])
}

/** Continues as its runner when the server is back: the jobs it was given are still its own. */
export async function runGiven(url: string, { at, answered, given }: Trial): Promise<void> {
  for (const job of given.values()) {
    if (answered['CI job'].includes(String(job.id))) continue
    const { status } = await call(url, 'GET', `${at}/jobs/${job.id}`)
    // The end may have been recorded, and the answer lost.
    if (status !== 'success') await finish(url, job)
  }
}

/** Runs all pending jobs. Returns the jobs that it was given before. */
export async function runTheRest(url: string, trial: Trial): Promise<number[]> {
  for (let job = await takeJob(url, trial); job; job = await takeJob(url, trial)) await finish(url, job)
  return trial.taken.filter((id, n) => trial.taken.indexOf(id) !== n)
}

async function all(url: string, path: string): Promise<Body[]> {
  const takeSnapshot: Body[] = []
  for (let page = 1; ; page++) {
    const some = (await call(
      url,
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`,
    )) as unknown as Body[]
    takeSnapshot.push(...some)
    if (some.length < 100) return takeSnapshot
  }
}

/** Everything that the API and the hooks show of the project. */
export async function takeSnapshot(url: string, { at }: Trial, received: readonly Body[]) {
  const branches = new Set((await all(url, `${at}/repository/branches`)).map(({ name }) => name as string))
  const ids = async (ref: string) =>
    branches.has(ref) ? (await all(url, `${at}/repository/commits?ref_name=${ref}`)).map(({ id }) => id as string) : []
  const here = received.filter(({ project }) => project.id === Number(at.split('/').at(-1)))
  return {
    branches,
    master: await ids('master'),
    side: await ids('side'),
    line: await ids('line'),
    requests: await all(url, `${at}/merge_requests`),
    issues: (await all(url, `${at}/issues`)).map(({ title }) => title as string),
    pipelines: await all(url, `${at}/pipelines`),
    jobs: (await all(url, `${at}/jobs`)).filter(({ status }) => status === 'success').map(({ id }) => String(id)),
    heardIssues: new Set(here.map(({ object_attributes }) => object_attributes?.title as string)),
    heardPushes: new Set(here.map(({ ref, after }) => `${ref} ${after}`)),
  }
}

export type Snapshot = Awaited<ReturnType<typeof takeSnapshot>>

/** Answered work that is missing now or has had no consequence. */
export function lostOf({ answered, source }: Trial, now: Snapshot): Record<Kind, string[]> {
  const has = (branch: string, sha: string) =>
    now.heardPushes.has(`refs/heads/${branch} ${sha}`) &&
    now.pipelines.some((pipeline) => pipeline.ref === branch && pipeline.sha === sha)
  const topicOf = (name: string) => source.topics[Number(name.slice('topic'.length))]!
  const requestsOf = (branch: string) => now.requests.filter(({ source_branch }) => source_branch === branch)
  const isKept: { readonly [kind in Kind]: (one: string) => boolean } = {
    'git push': (sha) => now.line.includes(sha) && has('line', sha),
    'push option': (topic) => now.branches.has(topic) && has(topic, topicOf(topic)) && requestsOf(topic).length === 1,
    'API commit': (one) => {
      const [branch, sha] = one.split(' ') as ['master' | 'side', string]
      return now[branch].includes(sha) && has(branch, sha)
    },
    merge: (branch) => requestsOf(branch)[0]?.state === 'merged',
    'issue and hook': (title) => now.issues.includes(title) && now.heardIssues.has(title),
    'CI job': (id) => now.jobs.includes(id),
  }
  return Object.fromEntries(KINDS.map((kind) => [kind, answered[kind].filter((one) => !isKept[kind](one))])) as Record<
    Kind,
    string[]
  >
}

/** Invariants of all work, answered or not. */
export function oddities(now: Snapshot): string[] {
  const odd: string[] = []
  for (const { iid, state, merge_commit_sha } of now.requests) {
    const isIn = merge_commit_sha !== null && now.master.includes(merge_commit_sha as string)
    if ((state === 'merged') !== isIn)
      odd.push(`merge request ${iid} is ${state}, its commit ${isIn ? 'is' : 'is not'} there`)
  }
  for (const title of now.issues) if (!now.heardIssues.has(title)) odd.push(`nobody heard of issue ${title}`)
  const tips = now.pipelines.map(({ ref, sha }) => `${ref} ${sha}`)
  if (new Set(tips).size !== tips.length) odd.push('a push has two pipelines')
  for (const { iid, status } of now.pipelines) if (status !== 'success') odd.push(`pipeline ${iid} is ${status}`)
  for (const name of now.branches) {
    const count = now.requests.filter(({ source_branch }) => source_branch === name).length
    if (name.startsWith('topic') && count !== 1) odd.push(`${name} has ${count} merge requests`)
  }
  return odd
}
