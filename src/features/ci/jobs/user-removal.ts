import type { OnUserRemoved } from '../../../context.ts'

/** What they ran stays in any case; without an heir it is nobody's. */
export const releaseRuns: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  for (const table of ['pipelines', 'ci_jobs', 'deployments'] as const)
    await db
      .updateTable(table as 'pipelines')
      .set({ user_id: successor.id })
      .where('user_id', '=', id)
      .execute()
}
