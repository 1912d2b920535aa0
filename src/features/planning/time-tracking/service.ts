import type { App, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { formatDuration, parseDuration } from '../../../lib/duration.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { Issue } from '../issues/model.ts'
import { holdIssue, storeTimes } from '../issues/service.ts'
import { addSystemNotes } from '../notes/system.ts'
import type { TimeStats } from './entity.ts'

/** Of work, in seconds: what a column holds. */
const LONGEST = 2_147_483_647

function secondsIn(text: string, field: 'time_estimate' | 'time_spent'): number {
  const seconds = parseDuration(text)
  if (seconds === null || Math.abs(seconds) > LONGEST) throw invalid({ [field]: ['has an invalid format'] })
  return seconds
}

export const estimate = (app: App, actor: User, issue: Issue, duration: string): Promise<Issue> => {
  const seconds = secondsIn(duration, 'time_estimate')
  if (seconds < 0) throw invalid({ time_estimate: ['must be greater than or equal to 0'] })
  return change(app, actor, issue, (was) => ({ ...was, time_estimate: seconds }))
}

export const resetEstimate = (app: App, actor: User, issue: Issue): Promise<Issue> =>
  change(app, actor, issue, (was) => ({ ...was, time_estimate: 0 }))

/** A negative duration takes back. */
export const spend = (app: App, actor: User, issue: Issue, duration: string): Promise<Issue> => {
  const seconds = secondsIn(duration, 'time_spent')
  if (seconds === 0) throw invalid({ time_spent: ["can't be 0"] })
  return change(app, actor, issue, (was) => {
    const total_time_spent = was.total_time_spent + seconds
    if (total_time_spent < 0) throw invalid({ time_spent: ['Time to subtract exceeds the total time spent'] })
    if (total_time_spent > LONGEST) throw invalid({ time_spent: ['has an invalid format'] })
    return { ...was, total_time_spent }
  })
}

export const resetSpent = (app: App, actor: User, issue: Issue): Promise<Issue> =>
  change(app, actor, issue, (was) => ({ ...was, total_time_spent: 0 }))

async function change(app: App, actor: User, { id }: Issue, alter: (was: TimeStats) => TimeStats): Promise<Issue> {
  return transact(app, async (app) => {
    const issue = await holdIssue(app, id)
    const { time_estimate, total_time_spent } = alter(issue)
    const bodies = [
      ...estimateNote(issue.time_estimate, time_estimate),
      ...spentNote(issue.total_time_spent, total_time_spent),
    ]
    if (bodies.length === 0) return issue
    const updated = await storeTimes(app, id, { time_estimate, total_time_spent })
    const notes = bodies.map((body) => ({ action: 'time_tracking' as const, body }))
    await addSystemNotes(app, actor, { project_id: issue.project_id, issue_id: id }, notes)
    const changes = {
      ...(issue.time_estimate !== time_estimate && { time_estimate: [issue.time_estimate, time_estimate] as const }),
      ...(issue.total_time_spent !== total_time_spent && {
        total_time_spent: [issue.total_time_spent, total_time_spent] as const,
      }),
    }
    await emit(app, 'issue.updated', { id, by: actor.id, changes })
    return updated
  })
}

function estimateNote(was: number, is: number): string[] {
  if (was === is) return []
  return [is === 0 ? 'removed time estimate' : `changed time estimate to ${formatDuration(is)}`]
}

function spentNote(was: number, is: number): string[] {
  if (was === is) return []
  if (is === 0 && was > 0) return ['removed time spent']
  return [
    is > was
      ? `added ${formatDuration(is - was)} of time spent`
      : `subtracted ${formatDuration(was - is)} of time spent`,
  ]
}
