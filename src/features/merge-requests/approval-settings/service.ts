import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan } from '../../../store/violations.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { updateProject } from '../../projects/projects/update.ts'
import { USUAL_SETTINGS, type ApprovalSettings } from './model.ts'
import { findApprovalSettings } from './queries.ts'

export type SettingsChange = { readonly [name in keyof ApprovalSettings]?: boolean | null | undefined } & {
  readonly approvals_before_merge?: number | null | undefined
}

const NAMES = Object.keys(USUAL_SETTINGS) as (keyof ApprovalSettings)[]

/** Absent fields stay unchanged. */
export async function changeApprovalSettings(
  app: App,
  actor: User,
  subject: ProjectSubject,
  { approvals_before_merge, ...input }: SettingsChange,
): Promise<{ project: Project; settings: ApprovalSettings }> {
  const given = NAMES.filter((name) => typeof input[name] === 'boolean')
  const change: Partial<ApprovalSettings> = Object.fromEntries(given.map((name) => [name, input[name]]))
  const { id: project_id } = subject.project
  const changed = transact(app, async (app) => {
    const project =
      approvals_before_merge === undefined
        ? subject.project
        : await updateProject(app, actor, subject, { approvals_before_merge })
    if (given.length > 0)
      await app.db
        .insertInto('approval_settings')
        .values({ project_id, ...change })
        .onConflict((c) => c.column('project_id').doUpdateSet(change))
        .execute()
    return { project, settings: await findApprovalSettings(app.db, project_id) }
  })
  return unlessOrphan(changed, () => notFound('Project'))
}
