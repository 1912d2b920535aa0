/**
 * kill -9 at random moments of pushes, merges, hooks, CI and jobs that go on at once. `MORTISE_KILL_TRIALS=200` for many,
 * `MORTISE_KILL_SEED` for the same again. After each: nothing that was answered is lost, all is resumed soon, and
 * `mortise check` is content.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { deliveryReceiver } from '../delivery-receiver.ts'
import { until } from './command.ts'
import { type Body, FOLLOWED_EVENTS, call, commit, expectClean, inStore, start, withInstance } from './merge-crash.ts'

const TRIALS = Number(process.env.MORTISE_KILL_TRIALS ?? 3)
const SEED = Number(process.env.MORTISE_KILL_SEED ?? 1)
/** Killed a moment after so many answers at most. */
const MOST_ANSWERS = 25
const MOMENT_MS = 40
/** All is done in one instance: whatever a trial has broken is found at the end, too. */
const CHECK_EVERY = 20
/** Half of what leases took to end by themselves; the 10 seconds that are promised are for a machine of its own. */
const RESUMED_MS = 10_000

/** mulberry32. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const CONFIG = 'build: { script: x }\n'

/** What was answered before the kill. */
interface Answered {
  readonly commits: string[]
  readonly issues: string[]
  readonly jobs: number[]
  merged: boolean
}

const countOf = ({ commits, issues, jobs, merged }: Answered) =>
  commits.length + issues.length + jobs.length + Number(merged)

/** A project with a hook, a CI file, a runner and a merge request. */
async function prepare(url: string, path: string, hook: string) {
  const { id, runners_token } = await call(url, 'POST', '/projects', { path })
  const at = `/projects/${id}`
  const actions = [{ action: 'create', file_path: '.gitlab-ci.yml', content: CONFIG }]
  await call(url, 'POST', `${at}/repository/commits`, { branch: 'master', commit_message: 'Begin', actions })
  await commit(url, at, 'feature', 'b.txt', 'master')
  await call(url, 'POST', `${at}/hooks`, { url: hook, push_events: false, issues_events: true })
  const { token: runner } = await call(url, 'POST', '/runners', { token: runners_token })
  await call(url, 'POST', `${at}/merge_requests`, {
    source_branch: 'feature',
    target_branch: 'master',
    title: 'Bring it',
  })
  return { at, path, runner }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/** Everything at once, until the server is gone. */
async function workOn(url: string, { at, path, runner }: Prepared, answered: Answered): Promise<void> {
  const untilCut = (work: () => Promise<void>) => work().catch(() => {})
  await Promise.all([
    untilCut(async () => {
      for (let n = 0; n < 20; n++) answered.commits.push((await commit(url, at, 'master', `${n}.txt`)).id)
    }),
    untilCut(async () => {
      for (let n = 0; n < 40; n++) {
        await call(url, 'POST', `${at}/issues`, { title: `${path} ${n}` })
        answered.issues.push(`${path} ${n}`)
      }
    }),
    untilCut(async () => {
      await call(url, 'PUT', `${at}/merge_requests/1/merge`, {})
      answered.merged = true
    }),
    untilCut(async () => {
      for (let n = 0; n < 40; n++) {
        const { id, token } = await call(url, 'POST', '/jobs/request', { token: runner })
        if (id === undefined) continue
        await call(url, 'PUT', `/jobs/${id}`, { token, state: 'success' })
        answered.jobs.push(id)
      }
    }),
  ])
}

/** What is still to be done, by kind. */
const openWork = (database: string, { at }: Prepared) =>
  inStore(database, async (db) => {
    const id = Number(at.split('/').at(-1))
    const now = new Date().toISOString()
    const counts = await Promise.all([
      db.selectFrom('merge_requests').select('id').where('state', '=', 'locked').execute(),
      db
        .selectFrom('events')
        .select('id')
        .where('dispatched_at', 'is', null)
        .where('name', 'in', FOLLOWED_EVENTS)
        .execute(),
      db.selectFrom('jobs').select('id').where('run_at', '<=', now).where('state', '=', 'ready').execute(),
      db.selectFrom('hook_deliveries').select('id').where('state', '=', 'waiting').execute(),
      db.selectFrom('pipelines').select('id').where('status', '=', 'created').where('project_id', '=', id).execute(),
    ])
    return counts.map((rows) => rows.length)
  })

/** As the API tells it. */
async function found(url: string, { at }: Prepared) {
  const commits = (await call(url, 'GET', `${at}/repository/commits?ref_name=master&per_page=100`)) as unknown as Body[]
  const pipelines = (await call(url, 'GET', `${at}/pipelines?ref=master&per_page=100`)) as unknown as Body[]
  const jobs = (await call(url, 'GET', `${at}/jobs?scope[]=success&per_page=100`)) as unknown as Body[]
  const issues = (await call(url, 'GET', `${at}/issues?per_page=100`)) as unknown as Body[]
  const one = await call(url, 'GET', `${at}/merge_requests/1`)
  const isMerged = commits.some(({ id }) => id === one.merge_commit_sha) && one.merge_commit_sha !== null
  return {
    state: [one.state, isMerged],
    commits: commits.map(({ id }) => id as string),
    pipelines: pipelines.map(({ sha }) => sha as string),
    jobs: jobs.map(({ id }) => id as number),
    issues: issues.map(({ title }) => title as string),
  }
}

const missing = <T>(answered: readonly T[], there: readonly T[]) => answered.filter((one) => !there.includes(one))

test(
  `${TRIALS} times kill -9 while everything goes on (seed ${SEED})`,
  { timeout: 60_000 + TRIALS * 60_000 },
  async () => {
    const next = random(SEED)
    await using receiver = await deliveryReceiver()
    await withInstance(async (settings, database) => {
      const took: number[] = []
      const acknowledged = { commits: 0, issues: 0, jobs: 0, merges: 0 }
      let child = start(settings)
      try {
        let url = await child.url()
        await call(url, 'PUT', '/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
        for (let trial = 0; trial < TRIALS; trial++) {
          const project = await prepare(url, `trial${trial}`, receiver.url)
          const answered: Answered = { commits: [], issues: [], jobs: [], merged: false }
          const working = workOn(url, project, answered)
          const most = next() * MOST_ANSWERS
          await Promise.race([until(() => countOf(answered) >= most, { every: 1 }), working])
          await sleep(next() * MOMENT_MS)
          child.process.kill('SIGKILL')
          await Promise.all([working, child.ended()])

          child = start(settings)
          url = await child.url()
          const began = performance.now()
          const label = `trial ${trial}`
          await expect
            .poll(async () => [label, await openWork(database, project)], { timeout: 30_000, interval: 50 })
            .toEqual([label, [0, 0, 0, 0, 0]])
          took.push(performance.now() - began)
          const now = await found(url, project)
          expect([label, missing(answered.commits, now.commits)]).toEqual([label, []])
          expect([label, missing(answered.issues, now.issues)]).toEqual([label, []])
          expect([label, missing(answered.jobs, now.jobs)]).toEqual([label, []])
          expect([label, now.state]).toEqual([
            label,
            answered.merged || now.state[1] ? ['merged', true] : ['opened', false],
          ])
          // One pipeline for each push, whether it was answered or not.
          const pushed = now.commits.filter((id) => id !== now.commits.at(-1))
          expect([label, missing(answered.commits, now.pipelines)]).toEqual([label, []])
          expect([label, new Set(now.pipelines).size]).toEqual([label, now.pipelines.length])
          expect(pushed.length).toBeGreaterThanOrEqual(answered.commits.length)
          const heard = receiver.got.map(({ body }) => body.object_attributes?.title as string)
          expect([label, missing(now.issues, heard)]).toEqual([label, []])
          if (trial % CHECK_EVERY === CHECK_EVERY - 1 || trial === TRIALS - 1) await expectClean(settings)
          acknowledged.commits += answered.commits.length
          acknowledged.issues += answered.issues.length
          acknowledged.jobs += answered.jobs.length
          acknowledged.merges += Number(answered.merged)
        }
      } finally {
        await child[Symbol.asyncDispose]()
      }
      took.sort((a, b) => a - b)
      const at = (part: number) => Math.round(took[Math.floor((took.length - 1) * part)]!)
      const told = `${TRIALS} kills, resumed after ${at(0.5)} ms (median), ${at(1)} ms (worst)`
      process.stdout.write(`${told}; ${JSON.stringify(acknowledged)}\n`)
      expect(at(1)).toBeLessThan(TRIALS > 20 ? RESUMED_MS : 2.5 * RESUMED_MS)
    })
  },
)
