/**
 * What pipelines were made of by themselves (a push, a merge request's commits, a time of a schedule), so that nothing
 * is made of it twice: not by whoever does it again after a crash, and not where somebody has deleted it since.
 */
import { hash } from 'node:crypto'
import { after, DAY, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'

/** Longer than anything waits to be done again. */
const KEPT = 7 * DAY

export interface Cause {
  /** What it is made of; two of the same are one. */
  readonly of: readonly (string | number | null)[]
  /** Only what was made since counts; without, all that ever was; null: nothing, it happens just now. */
  readonly since?: string | null
}

/** Whether it is the first of its cause. In the transaction that makes it: of two at once one is. */
export async function markMade({ db, clock }: App, { of, since }: Cause): Promise<boolean> {
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

/** For what is no matter of one transaction: marked when it is done. */
export async function wasMade({ db }: App, of: Cause['of'], since: string): Promise<boolean> {
  const found = await db
    .selectFrom('pipeline_marks')
    .select('cause')
    .where('cause', '=', causeOf(of))
    .where('made_at', '>=', since)
    .executeTakeFirst()
  return found !== undefined
}

const causeOf = (of: Cause['of']) => hash('sha256', JSON.stringify(of))

export async function forgetMarks({ db, clock }: App): Promise<void> {
  await db.deleteFrom('pipeline_marks').where('made_at', '<', after(clock, -KEPT)).execute()
}
