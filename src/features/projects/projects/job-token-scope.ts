import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Project } from './queries.ts'

/** Whether only those whom the project names may enter with tokens of their jobs. */
export async function setJobTokenScope({ db, clock }: App, { id }: Pick<Project, 'id'>, isOn: boolean): Promise<void> {
  await db
    .updateTable('projects')
    .set({ job_token_scope_enabled: isOn, updated_at: timestamp(clock) })
    .where('id', '=', id)
    .execute()
}
