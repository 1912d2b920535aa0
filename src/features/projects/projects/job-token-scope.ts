import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Project } from './queries.ts'

/** Whether job tokens need an allowlist entry to access the project. */
export async function setJobTokenScope({ db, clock }: App, { id }: Pick<Project, 'id'>, isOn: boolean): Promise<void> {
  await db
    .updateTable('projects')
    .set({ job_token_scope_enabled: isOn, updated_at: timestamp(clock) })
    .where('id', '=', id)
    .execute()
}
