/**
 * kill -9 at random moments during concurrent git pushes, API commits, merges, hooks and CI jobs.
 * `MORTISE_KILL_TRIALS=200` runs many, `MORTISE_KILL_SEED` repeats a run. After each kill: nothing that was answered is
 * lost, all work is resumed soon, and `mortise check` finds nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Store } from '../../src/store/database.ts'
import { deliveryReceiver } from '../delivery-receiver.ts'
import { until } from './command.ts'
import {
  type Kind,
  KINDS,
  type Trial,
  countMoves,
  takeSnapshot,
  lostOf,
  oddities,
  prepare,
  runGiven,
  runTheRest,
  source,
  workOn,
} from './kill-mix.ts'
import { FOLLOWED_EVENTS, call, expectClean, inStore, start, withInstance } from './merge-crash.ts'

const TRIALS = Number(process.env.MORTISE_KILL_TRIALS ?? 3)
const SEED = Number(process.env.MORTISE_KILL_SEED ?? 1)
/**
 * A run with at least this many trials is long: each kind must have been answered often, and all must be resumed in the
 * promised time.
 */
const MANY = 20
/** Killed a moment after at most that many ref updates. */
const MOST_MOVES = 14
const MOMENT_MS = 40
/** All trials use one instance: damage by a trial is found at the end too. */
const CHECK_EVERY = 20
const RESUMED_MS = 10_000
const DEADLINE_MS = 45_000

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

/** Work that is still to be done, by its cause. */
async function openWork(db: Store['db'], { at, given }: Trial): Promise<Record<Kind, number>> {
  const id = Number(at.split('/').at(-1))
  const now = new Date().toISOString()
  const jobs = await db.selectFrom('jobs').select(['name', 'run_at']).where('state', '=', 'ready').execute()
  const waiting = (name: string) => jobs.filter((job) => job.name === name).length
  const due = jobs.filter(({ name, run_at }) => run_at <= now && name !== 'ci.return_lost_jobs')
  const counted = await Promise.all([
    db
      .selectFrom('events')
      .select('id')
      .where('dispatched_at', 'is', null)
      .where('name', 'in', FOLLOWED_EVENTS)
      .execute(),
    db.selectFrom('pipelines').select('id').where('status', '=', 'created').where('project_id', '=', id).execute(),
    db.selectFrom('merge_requests').select('id').where('state', '=', 'locked').execute(),
    db.selectFrom('hook_deliveries').select('id').where('state', '=', 'waiting').execute(),
    db.selectFrom('ci_jobs').select('id').where('status', '=', 'running').where('project_id', '=', id).execute(),
  ])
  const [events, pipelines, locked, deliveries, running] = counted
  return {
    'git push': events.length + due.length + waiting('ci.follow_push'),
    'push option': waiting('merge_requests.push_options'),
    'API commit': pipelines.length,
    merge: locked.length,
    'issue and hook': deliveries.length,
    'CI job': running.filter((job) => !given.has(job.id)).length + waiting('ci.return_lost_jobs'),
  }
}

/** How long each kind took until nothing of it was left. */
const resumed = (database: string, trial: Trial): Promise<Record<Kind, number>> =>
  inStore(database, async (db) => {
    const began = performance.now()
    const took = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>
    for (;;) {
      const open = await openWork(db, trial)
      const since = performance.now() - began
      for (const kind of KINDS) if (open[kind] > 0) took[kind] = since
      if (KINDS.every((kind) => open[kind] === 0)) return took
      if (since > DEADLINE_MS) throw new Error(`${trial.path} is not resumed: ${JSON.stringify(open)}`)
      await sleep(50)
    }
  })

interface Row {
  acknowledged: number
  lost: number
  /** The maximum in milliseconds. */
  resumed: number
}

type Table = Record<Kind, Row>

function printed(table: Table): string {
  const line = (cells: readonly (string | number)[]) => cells.map((cell) => String(cell).padEnd(16)).join('')
  const rows = KINDS.map((kind) => {
    const { acknowledged, lost, resumed } = table[kind]
    return line([kind, acknowledged, lost, `${Math.round(resumed)} ms`])
  })
  return [line(['kind', 'acknowledged', 'lost', 'longest resume']), ...rows, ''].join('\n')
}

test(
  `${TRIALS} times kill -9 while everything goes on (seed ${SEED})`,
  { timeout: 60_000 + TRIALS * 90_000 },
  async () => {
    const next = random(SEED)
    await using receiver = await deliveryReceiver()
    await using pushed = await source()
    const table = Object.fromEntries(KINDS.map((kind) => [kind, { acknowledged: 0, lost: 0, resumed: 0 }])) as Table
    await withInstance(async (settings, database) => {
      let child = start(settings)
      try {
        let url = await child.url()
        await call(url, 'PUT', '/application/settings', { allow_local_requests_from_web_hooks_and_services: true })
        for (let n = 0; n < TRIALS; n++) {
          const trial = await prepare(url, pushed, `trial${n}`, receiver.url)
          const working = workOn(url, trial)
          const most = next() * MOST_MOVES
          await until(() => countMoves(trial) >= most || trial.faults.length > 0, { every: 1 })
          await sleep(next() * MOMENT_MS)
          trial.isKilled = true
          child.process.kill('SIGKILL')
          await Promise.all([working, child.ended()])
          expect([trial.path, trial.faults]).toEqual([trial.path, []])

          child = start(settings)
          url = await child.url()
          const [took] = await Promise.all([resumed(database, trial), runGiven(url, trial)])
          const twice = await runTheRest(url, trial)
          await resumed(database, trial)
          const now = await takeSnapshot(
            url,
            trial,
            receiver.got.map(({ body }) => body),
          )
          const lost = lostOf(trial, now)
          for (const kind of KINDS) {
            table[kind].acknowledged += trial.answered[kind].length
            table[kind].lost += lost[kind].length
            table[kind].resumed = Math.max(table[kind].resumed, took[kind])
          }
          const nothing = Object.fromEntries(KINDS.map((kind) => [kind, []]))
          expect([trial.path, lost, twice, oddities(now)]).toEqual([trial.path, nothing, [], []])
          if (n % CHECK_EVERY === CHECK_EVERY - 1 || n === TRIALS - 1) await expectClean(settings)
        }
      } finally {
        process.stdout.write(`${TRIALS} kills (seed ${SEED})\n${printed(table)}`)
        await child[Symbol.asyncDispose]()
      }
      const longest = Math.max(...KINDS.map((kind) => table[kind].resumed))
      expect(longest).toBeLessThan(TRIALS > MANY ? RESUMED_MS : 2.5 * RESUMED_MS)
      const seldom = KINDS.filter((kind) => TRIALS >= MANY && table[kind].acknowledged < TRIALS / 2)
      expect(seldom).toEqual([])
    })
  },
)
