/**
 * Records the causes of automatic pipelines: a push, commits of a merge request, a due time of a schedule. Each cause
 * creates at most one pipeline. A retry after a crash creates no second one, even if a user has deleted the first.
 */
import { hash } from 'node:crypto'
import { after, DAY, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'

/** Longer than any retry waits. */
const KEPT = 7 * DAY

export interface Cause {
  /** Identifies the cause. Equal values are the same cause. */
  readonly of: readonly (string | number | null)[]
  /**
   * Counts only pipelines created since this time. Undefined: all pipelines. Null: none, because the cause happens now.
   */
  readonly since?: string | null
}

/**
 * Whether this is the first pipeline of the cause. Runs in the transaction that creates the pipeline, so that one of
 * two concurrent callers wins.
 */
export async function markMade({ db, clock }: App, { of, since }: Cause): Promise<boolean> {
  if (isForgotten(clock, since)) return false
  const cause = causeOf(of)
  const made_at = timestamp(clock)
  const made = await db
    .insertInto('pipeline_marks')
    .values({ cause, made_at })
    .onConflict((conflict) => {
      if (since === undefined) return conflict.doNothing()
      const again = conflict.column('cause').doUpdateSet({ made_at })
      return since === null ? again : again.where('pipeline_marks.made_at', '<', since)
    })
    .returning('cause')
    .execute()
  return made.length > 0
}

/** For work that spans several transactions: the caller marks the cause when the work is done. */
export async function wasMade({ db, clock }: App, of: Cause['of'], since: string): Promise<boolean> {
  if (isForgotten(clock, since)) return true
  const found = await db
    .selectFrom('pipeline_marks')
    .select('cause')
    .where('cause', '=', causeOf(of))
    .where('made_at', '>=', since)
    .executeTakeFirst()
  return found !== undefined
}

/** Marks of that time are deleted, so nothing tells whether the work was done. After a week it is not done again. */
const isForgotten = (clock: App['clock'], since: string | null | undefined) =>
  since != null && since < after(clock, -KEPT)

const causeOf = (of: Cause['of']) => hash('sha256', JSON.stringify(of))

export async function forgetMarks({ db, clock }: App): Promise<void> {
  await db.deleteFrom('pipeline_marks').where('made_at', '<', after(clock, -KEPT)).execute()
}
