import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { VISIBILITIES, isWider, type Visibility } from '../../../lib/levels.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { closePoolsOf } from '../forks/pools.ts'
import type { Namespace, Project } from './queries.ts'

const narrower = (one: Visibility, other: Visibility) => (isWider(one, other) ? other : one)

/** The default of the instance, limited by the group. */
export async function defaultVisibility(app: App, namespace: Namespace): Promise<Visibility> {
  const { default_project_visibility: usual } = await currentSettings(app)
  return namespace.kind === 'group' ? narrower(usual, namespace.visibility) : usual
}

interface Around {
  namespace: Namespace
  source?: Project | null
}

/** A project must not be visible to users who may not see its group or the source of its fork. */
export async function assertVisibilityAllowed(
  app: App,
  actor: User,
  visibility: Visibility,
  { namespace, source }: Around,
): Promise<void> {
  const { restricted_visibility_levels: restricted } = await currentSettings(app)
  const faults: string[] = []
  if (!actor.admin && restricted.includes(visibility)) {
    faults.push(`${visibility} has been restricted by your administrator`)
  }
  if (namespace.kind === 'group' && isWider(visibility, namespace.visibility)) {
    faults.push(`${visibility} is not allowed in a ${namespace.visibility} group.`)
  }
  if (source && isWider(visibility, source.visibility)) {
    faults.push(`${visibility} is not allowed since the fork source project has lower visibility.`)
  }
  if (faults.length > 0) throw invalid({ visibility_level: faults })
}

/** Limits the visibility of all forks, and forks of forks, to that of their source. */
export async function narrowForks(
  app: TransactionApp,
  { id, visibility }: Pick<Project, 'id' | 'visibility'>,
): Promise<void> {
  const wider = VISIBILITIES.filter((one) => isWider(one, visibility))
  let sources = wider.length === 0 ? [] : [id]
  while (sources.length > 0) {
    await closePoolsOf(app, sources)
    const lowered = await app.db
      .updateTable('projects')
      .set({ visibility, updated_at: timestamp(app.clock) })
      .where('forked_from_id', 'in', sources)
      .where('visibility', 'in', wider)
      .returning('id')
      .execute()
    sources = lowered.map((fork) => fork.id)
  }
}

/** Limits every project in or below a group, and their forks. */
export async function narrowProjectsIn(app: TransactionApp, group: number, visibility: Visibility): Promise<void> {
  const lowered = await app.db
    .updateTable('projects')
    .set({ visibility, updated_at: timestamp(app.clock) })
    .where('namespace_id', 'in', treeOf(app.db, group))
    .where(
      'visibility',
      'in',
      VISIBILITIES.filter((one) => isWider(one, visibility)),
    )
    .returning('id')
    .execute()
  for (const { id } of lowered) await narrowForks(app, { id, visibility })
}

/** The wanted visibility, limited by all bounds. */
export const fitted = (requested: Visibility, ...bounds: Visibility[]): Visibility => bounds.reduce(narrower, requested)
