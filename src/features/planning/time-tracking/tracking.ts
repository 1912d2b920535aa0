/** Time estimate and time spent, for every kind of item that has them. */
import type { App, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { formatDuration, parseDuration } from '../../../lib/time/duration.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { targetOfItem, type ItemKind } from '../items/kind.ts'
import { lockItem, storeTimes } from '../items/rows.ts'
import { addSystemNotes } from '../notes/system.ts'
import { timestampChanges } from '../timestamps.ts'
import type { TimeStats } from './entity.ts'

interface Item {
  readonly id: number
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

export function trackTime(kind: ItemKind) {
  const change = (
    app: App,
    actor: User,
    { id }: Item,
    alter: (was: TimeStats) => TimeStats,
    { isReset = false } = {},
  ): Promise<TimeStats> =>
    transact(app, async (app) => {
      const item = await lockItem(app, kind, id)
      const { time_estimate, total_time_spent } = alter(item)
      const bodies = [
        ...estimateNote(item.time_estimate, time_estimate),
        ...spentNote(item.total_time_spent, total_time_spent, isReset),
      ]
      if (bodies.length === 0) return item
      const updated = await storeTimes(app, kind, id, { time_estimate, total_time_spent }, actor.id)
      const notes = bodies.map((body) => ({ action: 'time_tracking' as const, body }))
      await addSystemNotes(app, actor, targetOfItem(kind, item), notes)
      const changes = {
        ...(item.time_estimate !== time_estimate && { time_estimate: [item.time_estimate, time_estimate] as const }),
        ...(item.total_time_spent !== total_time_spent && {
          total_time_spent: [item.total_time_spent, total_time_spent] as const,
        }),
        ...timestampChanges(item, updated),
      }
      await emit(app, `${kind.key}.updated` as const, { id, project_id: item.project_id, by: actor.id, changes })
      return updated
    })

  return {
    estimate(app: App, actor: User, item: Item, duration: string): Promise<TimeStats> {
      const seconds = secondsIn(duration, BAD_ESTIMATE)
      if (seconds <= 0) throw invalid(BAD_ESTIMATE)
      return change(app, actor, item, (was) => ({ ...was, time_estimate: seconds }))
    },

    resetEstimate: (app: App, actor: User, item: Item): Promise<TimeStats> =>
      change(app, actor, item, (was) => ({ ...was, time_estimate: 0 })),

    /** A negative duration subtracts. */
    spend(app: App, actor: User, item: Item, duration: string): Promise<TimeStats> {
      const seconds = secondsIn(duration, BAD_SPENT)
      if (seconds === 0) throw invalid({ time_spent: ["can't be 0"] })
      return change(app, actor, item, (was) => {
        const total_time_spent = was.total_time_spent + seconds
        if (total_time_spent < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] })
        if (total_time_spent > LONGEST) throw invalid(BAD_SPENT)
        return { ...was, total_time_spent }
      })
    },

    resetSpent: (app: App, actor: User, item: Item): Promise<TimeStats> =>
      change(app, actor, item, (was) => ({ ...was, total_time_spent: 0 }), { isReset: true }),
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
