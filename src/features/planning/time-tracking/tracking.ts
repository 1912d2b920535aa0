/** Time estimate and time spent, for every kind of item that has them. */
import type { App, TransactionApp, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { formatDuration, parseDuration } from '../../../lib/time/duration.ts'
import { transact } from '../../../store/transact.ts'
import { addSystemNotes, type Noteable } from '../notes/system.ts'
import { timestampChanges, type Timestamps } from '../timestamps.ts'
import type { TimeStats } from './entity.ts'

type TimeChanges = { [field: string]: readonly [unknown, unknown] }

/** The operations of an item. All are called in the transaction of the change. */
interface Work<T extends TimeStats & Timestamps & { readonly id: number }> {
  /** Locks the row until the transaction ends, and returns its current state. */
  hold(app: TransactionApp, id: number): Promise<T>
  store(app: TransactionApp, id: number, times: TimeStats, by: number): Promise<T>
  noteable(one: T): Noteable
  tell(app: TransactionApp, one: T, by: number, changes: TimeChanges): Promise<void>
}

/** Seconds; the maximum value of the column. */
const LONGEST = 2_147_483_647

function secondsIn(text: string, fault: Record<string, string[]>): number {
  const seconds = parseDuration(text)
  if (seconds === null || Math.abs(seconds) > LONGEST) throw invalid(fault)
  return seconds
}

const BAD_ESTIMATE = { time_estimate: ['has an invalid format'] }
const BAD_SPENT = { timelogs: ['is invalid'] }

export function trackTime<T extends TimeStats & Timestamps & { readonly id: number }>({
  hold,
  store,
  noteable,
  tell,
}: Work<T>) {
  const change = (
    app: App,
    actor: User,
    { id }: { readonly id: number },
    alter: (was: TimeStats) => TimeStats,
    { isReset = false } = {},
  ) =>
    transact(app, async (app): Promise<T> => {
      const one = await hold(app, id)
      const { time_estimate, total_time_spent } = alter(one)
      const bodies = [
        ...estimateNote(one.time_estimate, time_estimate),
        ...spentNote(one.total_time_spent, total_time_spent, isReset),
      ]
      if (bodies.length === 0) return one
      const updated = await store(app, id, { time_estimate, total_time_spent }, actor.id)
      const notes = bodies.map((body) => ({ action: 'time_tracking' as const, body }))
      await addSystemNotes(app, actor, noteable(one), notes)
      await tell(app, one, actor.id, {
        ...(one.time_estimate !== time_estimate && { time_estimate: [one.time_estimate, time_estimate] as const }),
        ...(one.total_time_spent !== total_time_spent && {
          total_time_spent: [one.total_time_spent, total_time_spent] as const,
        }),
        ...timestampChanges(one, updated),
      })
      return updated
    })

  return {
    estimate(app: App, actor: User, one: { readonly id: number }, duration: string): Promise<T> {
      const seconds = secondsIn(duration, BAD_ESTIMATE)
      if (seconds <= 0) throw invalid(BAD_ESTIMATE)
      return change(app, actor, one, (was) => ({ ...was, time_estimate: seconds }))
    },

    resetEstimate: (app: App, actor: User, one: { readonly id: number }): Promise<T> =>
      change(app, actor, one, (was) => ({ ...was, time_estimate: 0 })),

    /** A negative duration subtracts. */
    spend(app: App, actor: User, one: { readonly id: number }, duration: string): Promise<T> {
      const seconds = secondsIn(duration, BAD_SPENT)
      if (seconds === 0) throw invalid({ time_spent: ["can't be 0"] })
      return change(app, actor, one, (was) => {
        const total_time_spent = was.total_time_spent + seconds
        if (total_time_spent < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] })
        if (total_time_spent > LONGEST) throw invalid(BAD_SPENT)
        return { ...was, total_time_spent }
      })
    },

    resetSpent: (app: App, actor: User, one: { readonly id: number }): Promise<T> =>
      change(app, actor, one, (was) => ({ ...was, total_time_spent: 0 }), { isReset: true }),
  }
}

function estimateNote(was: number, is: number): string[] {
  if (was === is) return []
  return [is === 0 ? 'removed time estimate' : `changed time estimate to ${formatDuration(is)}`]
}

function spentNote(was: number, is: number, isReset: boolean): string[] {
  if (was === is) return []
  if (isReset) return ['removed time spent']
  return [
    is > was
      ? `added ${formatDuration(is - was)} of time spent`
      : `subtracted ${formatDuration(was - is)} of time spent`,
  ]
}
