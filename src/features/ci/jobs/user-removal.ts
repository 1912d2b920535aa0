import type { OnUserRemoved } from '../../../context.ts'

/** Pipelines, jobs and deployments of a removed user stay. Without a successor they have no user. */
export const releaseRuns: OnUserRemoved = async ({ db }, { id }, { successor }) => {
  if (!successor) return
  for (const table of ['pipelines', 'ci_jobs', 'deployments'] as const)
    await db
      .updateTable(table as 'pipelines')
      .set({ user_id: successor.id })
      .where('user_id', '=', id)
      .execute()
}
