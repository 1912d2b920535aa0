/** One kill trial of concurrent git pushes, API commits, merges, hooks and CI jobs. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Store } from '../../src/store/database.ts'
import type { DeliveryReceiver } from '../delivery-receiver.ts'
import { until } from './command.ts'
import { type Outcomes, outcomesOf } from './kill-ledger.ts'
import {
  type Kind,
  KINDS,
  type Source,
  type Trial,
  countMoves,
  lostOf,
  oddities,
  prepare,
  runGiven,
  runTheRest,
  takeSnapshot,
  workOn,
} from './kill-mix.ts'
import { FOLLOWED_EVENTS, inStore } from './merge-crash.ts'

/** Killed a moment after at most that many ref updates. */
const MOST_MOVES = 14
const MOMENT_MS = 40
const DEADLINE_MS = 45_000

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

export interface WorkRound {
  readonly name: string
  readonly next: () => number
  readonly database: string
  readonly url: string
  readonly receiver: DeliveryReceiver
  readonly source: Source
  kill(): Promise<void>
  /** Returns the URL of the server, which is back. */
  restart(): Promise<string>
}

export async function workTrial(round: WorkRound): Promise<Outcomes> {
  const { name, next, database, receiver } = round
  const trial = await prepare(round.url, round.source, name, receiver.url)
  const working = workOn(round.url, trial)
  const most = next() * MOST_MOVES
  await until(() => countMoves(trial) >= most || trial.faults.length > 0, { every: 1 })
  await sleep(next() * MOMENT_MS)
  trial.isKilled = true
  await round.kill()
  await working
  if (trial.faults.length > 0) throw new Error(trial.faults.join('; '))

  const url = await round.restart()
  const [took] = await Promise.all([resumed(database, trial), runGiven(url, trial)])
  const twice = await runTheRest(url, trial)
  await resumed(database, trial)
  const now = await takeSnapshot(
    url,
    trial,
    receiver.got.map(({ body }) => body),
  )
  const odd = [...twice.map((id) => `job ${id} was given twice`), ...oddities(now)]
  if (odd.length > 0) throw new Error(odd.join('; '))
  const lost = lostOf(trial, now)
  const outcomes = outcomesOf(KINDS)
  for (const kind of KINDS) {
    const cutOff = trial.cutOff.filter((one) => one === kind).length
    Object.assign(outcomes[kind]!, { acknowledged: trial.answered[kind].length, cutOff, lost: lost[kind] })
    outcomes[kind]!.resumed = took[kind]
  }
  return outcomes
}
