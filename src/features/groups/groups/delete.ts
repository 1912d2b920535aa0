import type { App, User } from '../../../context.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { binGroup } from './bin.ts'
import type { Group } from './queries.ts'
import { deleteGroupAtOnce } from './removal.ts'

export async function deleteGroup(app: App, actor: User, group: Group): Promise<void> {
  const { deletion_adjourned_period: days } = await currentSettings(app)
  return days === 0 ? deleteGroupAtOnce(app, actor, group) : binGroup(app, actor, group, days)
}
