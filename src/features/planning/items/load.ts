/** What records of items show, loaded for a whole page at once. */
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Answers, type Lookup } from '../../../store/lookups.ts'
import type { RowState } from '../../../store/versions.ts'
import { userRows, userStates } from '../../identity/users/queries.ts'
import type { Label } from '../labels/model.ts'
import { presentMilestone, type MilestoneRecord } from '../milestones/entity.ts'
import { milestoneLookup, milestoneSurroundings } from '../milestones/queries.ts'
import type { ItemKind, ItemRow } from './kind.ts'
import { labelLookup, userLookup } from './links.ts'

const pathsOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select(['projects.id', 'projects.path', 'namespaces.full_path'])
    .where(inIdList(db, 'projects.id', p.ids)),
)

/** Full paths of projects by id. */
export const projectPaths = async (db: Db, ids: readonly number[]): Promise<ReadonlyMap<number, string>> =>
  pathLookup(db, ids).ask(db)

const pathLookup = (db: Db, ids: readonly number[]): Lookup<ReadonlyMap<number, string>> =>
  lookup(
    pathsOf,
    ids.length === 0 ? null : { ids: idList(db, [...new Set(ids)]) },
    (rows) => new Map(rows.map(({ id, full_path, path }) => [id, `${full_path}/${path}`])),
  )

/** What is linked to an item. */
export interface Relations {
  readonly assignees: readonly User[]
  readonly reviewers: readonly User[]
  readonly labels: readonly Label[]
  readonly milestone: MilestoneRecord | null
  /** The path of the project. */
  readonly path: string
}

/** The lookups of the relations of these items, and of users who are named in columns of theirs. */
export function relationLookups(db: Db, kind: ItemKind, items: readonly ItemRow[], people: readonly (number | null)[]) {
  const ids = items.map(({ id }) => id)
  return {
    labels: labelLookup(db, kind, ids),
    milestones: milestoneLookup(
      db,
      items.map(({ milestone_id }) => milestone_id),
    ),
    assignees: userLookup(db, kind, 'assignees', ids),
    reviewers: userLookup(db, kind, 'reviewers', ids),
    paths: pathLookup(
      db,
      items.map(({ project_id }) => project_id),
    ),
    people: userStates(db, people),
  }
}

type FoundRelations = Answers<ReturnType<typeof relationLookups>>

/** All users that the relations name. */
export function usersIn({ db }: App, { assignees, reviewers, people }: FoundRelations) {
  return userRows(db, [...people, ...[...assignees.values(), ...reviewers.values()].flat()])
}

/** The relations of each item. */
export function relationsFrom(
  app: App,
  { labels, milestones, assignees, reviewers, paths }: FoundRelations,
  users: ReadonlyMap<number, User>,
): (item: ItemRow) => Relations {
  const around = milestoneSurroundings(app)
  const peopleOf = (states: readonly RowState[] = []) => states.flatMap(({ id }) => users.get(id) ?? [])
  return ({ id, milestone_id, project_id }) => {
    const milestone = milestones.get(milestone_id ?? 0)
    return {
      labels: labels.get(id) ?? [],
      milestone: milestone ? presentMilestone(milestone, around) : null,
      assignees: peopleOf(assignees.get(id)),
      reviewers: peopleOf(reviewers.get(id)),
      path: paths.get(project_id) ?? '',
    }
  }
}
