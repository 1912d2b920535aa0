import type { App, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { VISIBILITIES, isWider, type Visibility } from '../../../lib/levels.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Group } from './queries.ts'

/** A group is not more visible than its parent, and nothing inside is more visible than the group. */
export async function assertVisibilityAllowed(
  app: App,
  actor: User,
  visibility: Visibility,
  { parent, group }: { parent: Group | null; group?: Group },
): Promise<void> {
  const { restricted_visibility_levels: restricted } = await currentSettings(app)
  const faults: string[] = []
  if (!actor.admin && restricted.includes(visibility)) {
    faults.push(`${visibility} has been restricted by your administrator`)
  }
  if (parent && isWider(visibility, parent.visibility)) {
    faults.push(`${visibility} is not allowed since the parent group has a ${parent.visibility} visibility.`)
  }
  if (group) faults.push(...(await faultsInside(app, group, visibility)))
  if (faults.length > 0) throw invalid({ visibility_level: faults })
}

/** Deeper levels are bounded by the ones directly inside. */
async function faultsInside({ db }: App, { id }: Group, visibility: Visibility): Promise<string[]> {
  const wider = VISIBILITIES.filter((one) => isWider(one, visibility))
  if (wider.length === 0) return []
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('namespace_id', '=', id)
    .where('visibility', 'in', wider)
    .where('deleting', '=', false)
    .limit(1)
    .executeTakeFirst()
  const child = await db
    .selectFrom('namespaces')
    .select('id')
    .where('parent_id', '=', id)
    .where('visibility', 'in', wider)
    .where('deleting', '=', false)
    .limit(1)
    .executeTakeFirst()
  const fault = (inside: string) => `${visibility} is not allowed since ${inside} with higher visibility.`
  return [
    ...(project ? [fault('this group contains projects')] : []),
    ...(child ? [fault('there are sub-groups')] : []),
  ]
}
