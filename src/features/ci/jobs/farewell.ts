import type { Farewell } from '../../../context.ts'

/** What they ran stays in any case; without an heir it is nobody's. */
export const leaveRuns: Farewell = async ({ db }, { id }, { heir }) => {
  if (!heir) return
  for (const table of ['pipelines', 'ci_jobs', 'deployments'] as const)
    await db
      .updateTable(table as 'pipelines')
      .set({ user_id: heir.id })
      .where('user_id', '=', id)
      .execute()
}
