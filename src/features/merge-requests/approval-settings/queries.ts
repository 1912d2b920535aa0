import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { USUAL_SETTINGS, type ApprovalSettings } from './model.ts'

const ofProject = hotQuery((db, p: { project: number }) =>
  db.selectFrom('approval_settings').selectAll().where('project_id', '=', p.project),
)

export async function findApprovalSettings(db: Db, project: number): Promise<ApprovalSettings> {
  const [chosen] = await ofProject(db, { project })
  if (!chosen) return USUAL_SETTINGS
  const { project_id: _, ...settings } = chosen
  return settings
}
