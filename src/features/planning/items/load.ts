/** What records of items show, loaded for a whole page at once. */
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { Label } from '../labels/model.ts'
import { presentMilestone, type MilestoneRecord } from '../milestones/entity.ts'
import { milestoneSurroundings, milestonesOf } from '../milestones/queries.ts'
import type { ItemKind, ItemRole, ItemRow } from './kind.ts'
import { labelsOfItems, usersOfItems } from './links.ts'

const pathsOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', 'projects.path', 'namespaces.full_path'])
    .where(inIdList(db, 'projects.id', p.ids)),
)

/** Full paths of projects by id. */
export async function projectPaths(db: Db, ids: readonly number[]): Promise<Map<number, string>> {
  if (ids.length === 0) return new Map()
  const found = await pathsOf(db, { ids: idList(db, [...new Set(ids)]) })
  return new Map(found.map(({ id, full_path, path }) => [id, `${full_path}/${path}`]))
}

/** What is linked to an item. */
export interface Relations {
  readonly assignees: readonly User[]
  readonly reviewers: readonly User[]
  readonly labels: readonly Label[]
  readonly milestone: MilestoneRecord | null
  /** The path of the project. */
  readonly path: string
}

async function peopleOf(db: Db, kind: ItemKind, role: ItemRole, ids: readonly number[]): Promise<Map<number, User[]>> {
  const linked = await usersOfItems(db, kind, role, ids)
  const links = [...linked].flatMap(([item, users]) => users.map((user_id) => ({ item, user_id })))
  const people = Map.groupBy(await withUsers(db, links, { user: 'user_id' }), ({ item }) => item)
  return new Map(Array.from(people, ([item, some]) => [item, some.flatMap(({ user }) => user ?? [])]))
}

/** The relations of each of these items. A fixed number of queries. */
export async function relationsOf(
  app: App,
  kind: ItemKind,
  items: readonly ItemRow[],
): Promise<(item: ItemRow) => Relations> {
  const { db } = app
  const ids = items.map(({ id }) => id)
  const [labels, milestones, assignees, reviewers, paths] = await Promise.all([
    labelsOfItems(db, kind, ids),
    milestonesOf(
      db,
      items.map(({ milestone_id }) => milestone_id),
    ),
    peopleOf(db, kind, 'assignees', ids),
    peopleOf(db, kind, 'reviewers', ids),
    projectPaths(
      db,
      items.map(({ project_id }) => project_id),
    ),
  ])
  const around = milestoneSurroundings(app)
  return ({ id, milestone_id, project_id }) => {
    const milestone = milestones.get(milestone_id ?? 0)
    return {
      labels: labels.get(id) ?? [],
      milestone: milestone ? presentMilestone(milestone, around) : null,
      assignees: assignees.get(id) ?? [],
      reviewers: reviewers.get(id) ?? [],
      path: paths.get(project_id) ?? '',
    }
  }
}
