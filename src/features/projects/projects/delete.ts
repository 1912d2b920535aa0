import type { App, User } from '../../../context.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { binProject } from './bin.ts'
import type { Namespace, Project } from './queries.ts'
import { deleteProjectAtOnce } from './removal.ts'

export async function deleteProject(app: App, actor: User, project: Project, namespace: Namespace): Promise<void> {
  const { deletion_adjourned_period: days } = await currentSettings(app)
  if (days === 0) return deleteProjectAtOnce(app, actor, project, namespace)
  return binProject(app, actor, project, namespace, days)
}
