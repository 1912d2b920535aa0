import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { invalid, notFound } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'

const MOST_ALLOWED = 200

/** Adds a project or a group to the allowlist of a project. */
export async function allowJobsOf(
  app: App,
  project_id: number,
  named: { allowed_project_id: number | null; allowed_group_id: number | null },
): Promise<void> {
  await transact(app, async ({ db, clock }) => {
    await lockName(db, `job token allowlist of project ${project_id}`)
    const list = await db
      .selectFrom('job_token_allowlist')
      .selectAll()
      .where('project_id', '=', project_id)
      .limit(MOST_ALLOWED)
      .execute()
    const isThere = list.some(
      (one) => one.allowed_project_id === named.allowed_project_id && one.allowed_group_id === named.allowed_group_id,
    )
    if (isThere) throw invalid({ base: ['Target is already in the job token scope'] })
    if (list.length >= MOST_ALLOWED) throw invalid({ base: [`exceeds the limit of ${MOST_ALLOWED}`] })
    await db
      .insertInto('job_token_allowlist')
      .values({ project_id, ...named, created_at: timestamp(clock) })
      .execute()
  })
}

/** Removes a project or a group from the allowlist. */
export async function disallowJobsOf(
  { db }: App,
  project_id: number,
  column: 'allowed_project_id' | 'allowed_group_id',
  target: number,
): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom('job_token_allowlist')
    .where('project_id', '=', project_id)
    .where(column, '=', target)
    .executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound()
}
