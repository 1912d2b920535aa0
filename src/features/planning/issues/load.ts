/** Records of issues: related rows are loaded for a whole page at once. */
import { cachedRecords, type CachedRecordKey } from '../../../api/cached-records.ts'
import type { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { labelsOf } from '../labels/queries.ts'
import { presentMilestone } from '../milestones/entity.ts'
import { milestoneSurroundings, milestonesOf } from '../milestones/queries.ts'
import { subscriptionOf } from '../subscriptions/queries.ts'
import { presentIssue, type IssueRecord } from './entity.ts'
import type { Issue } from './model.ts'
import { isParticipant } from './participants.ts'
import { assigneesOf, findIssues } from './queries.ts'
import { readableAmong } from './readable.ts'
import { issueVersions, type IssueVersion } from './versions.ts'

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

export interface RecordOptions {
  with_labels_details?: boolean | null | undefined
  /** The records belong to several projects. */
  isMixed?: boolean
}

/** Records with references that the viewer may see. */
export async function presentIssues(
  app: App,
  viewer: User | null,
  issues: readonly Issue[],
  { with_labels_details, isMixed = false }: RecordOptions = {},
): Promise<IssueRecord[]> {
  if (issues.length === 0) return []
  return present(app, viewer, issues, { with_labels_details, isMixed })
}

/** A page of records, from the cache where possible. */
export async function presentIssuesById(
  app: App,
  viewer: User | null,
  page: readonly { id: number }[],
  { with_labels_details, isMixed = false }: RecordOptions = {},
): Promise<Json<IssueRecord>[]> {
  const [users, versionKeys] = await Promise.all([surroundings(app), issueVersions(app.db, page)])
  const { today } = milestoneSurroundings(app)
  const shown = `${Number(users.gravatar)}${Number(Boolean(with_labels_details))}${Number(isMixed)}`
  const keyOf = (versionKey: IssueVersion): CachedRecordKey | null => {
    // The link to the original issue depends on rows outside the version key.
    if (versionKey.duplicated_to_id !== null) return null
    const { version, project, namespace, author, closer, milestone, group, labels, assignees } = versionKey
    const isExpired = versionKey.due_date !== null && versionKey.due_date < today
    const rows = [version, project, namespace, author, closer, milestone, group, labels, assignees, isExpired]
    return { place: `issue ${versionKey.id} ${shown}`, versionKey: rows.join(' ') }
  }
  return cachedRecords(app, versionKeys.map(keyOf), async (missing) => {
    const ids = missing.map((i) => versionKeys[i]!.id)
    await assertSmallRows(app.db, 'issues', 'description', ids)
    const records = await presentIssues(app, viewer, await findIssues(app.db, ids), { with_labels_details, isMixed })
    const byId = new Map(records.map((record) => [record.id, record]))
    return ids.map((id) => byId.get(id))
  })
}

/** One record, with the viewer's subscription. */
export async function presentOneIssue(app: App, viewer: User | null, issue: Issue): Promise<IssueRecord> {
  const [record] = await present(app, viewer, [issue], {}, await isSubscribed(app, viewer, issue))
  return record!
}

/** The explicit subscription, else whether the user participates. */
async function isSubscribed(app: App, viewer: User | null, issue: Issue): Promise<boolean> {
  if (!viewer) return false
  const said = await subscriptionOf(app.db, viewer.id, { issue_id: issue.id })
  return said ?? (await isParticipant(app.db, issue, viewer.id))
}

async function present(
  app: App,
  viewer: User | null,
  issues: readonly Issue[],
  { with_labels_details, isMixed = false }: RecordOptions,
  subscribed?: boolean,
): Promise<IssueRecord[]> {
  const { db } = app
  const ids = issues.map(({ id }) => id)
  const present = <T>(some: readonly (T | null)[]) => some.filter((one) => one !== null)
  const [users, labels, milestones, assigned, paths, twins, people] = await Promise.all([
    surroundings(app),
    labelsOf(db, ids),
    milestonesOf(
      db,
      issues.map((issue) => issue.milestone_id),
    ),
    assigneesOf(db, ids),
    projectPaths(
      db,
      issues.map((issue) => issue.project_id),
    ),
    findIssues(db, present(issues.map((issue) => issue.duplicated_to_id))).then((found) =>
      readableAmong(app, viewer, found),
    ),
    withUsers(db, issues, { author: 'author_id', closer: 'closed_by_id' }),
  ])
  const assignments = issues.flatMap(({ id }) => (assigned.get(id) ?? []).map((user_id) => ({ issue_id: id, user_id })))
  const assignees = Map.groupBy(await withUsers(db, assignments, { user: 'user_id' }), ({ issue_id }) => issue_id)
  const around = milestoneSurroundings(app)
  return people.map((issue) => {
    const milestone = milestones.get(issue.milestone_id ?? 0)
    return presentIssue(
      {
        ...issue,
        labels: labels.get(issue.id) ?? [],
        milestone: milestone ? presentMilestone(milestone, around) : null,
        assignees: (assignees.get(issue.id) ?? []).map(({ user }) => user),
        path: paths.get(issue.project_id) ?? '',
        duplicate: twins.find(({ id }) => id === issue.duplicated_to_id) ?? null,
        ...(subscribed !== undefined && { subscribed }),
      },
      { users, labelDetails: Boolean(with_labels_details), isMixed },
    )
  })
}
