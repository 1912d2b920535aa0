import { assertBelowLimit } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'

/**
 * Call in the transaction that creates an issue. Every issue has a number, so the next number bounds their count.
 * Issues are counted only above the limit, or where the client chose the number.
 */
export async function assertIssueAllowed(db: Db, project: number, next: number | null): Promise<void> {
  const { project_issues: most } = await loadLimits(db)
  if (most === 0 || (next !== null && next <= most)) return
  const { total } = await db
    .selectFrom('issues_facets')
    .select((eb) => eb.fn.sum<number | null>('total').as('total'))
    .where('project_id', '=', project)
    .executeTakeFirstOrThrow()
  assertBelowLimit(Number(total), most, 'project issues')
}
