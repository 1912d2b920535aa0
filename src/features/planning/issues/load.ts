/** Records of issues: related rows are loaded for a whole page at once. */
import { cachedRecords, type CachedRecordKey } from '../../../api/cached-records.ts'
import type { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import { askTogether, nothing } from '../../../store/lookups.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { joinUsers, surroundings } from '../../identity/users/queries.ts'
import { relationLookups, relationsFrom, usersIn } from '../items/load.ts'
import { subscribedLookup } from '../items/participants.ts'
import { readableItems } from '../items/readers.ts'
import { milestoneSurroundings } from '../milestones/queries.ts'
import { presentIssue, type IssueRecord } from './entity.ts'
import { issueKind } from './kind.ts'
import type { Issue } from './model.ts'
import { findIssues } from './queries.ts'
import { issueRules } from './rules.ts'
import { issueVersions, type IssueVersion } from './versions.ts'

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
    return { cacheKey: `issue ${versionKey.id} ${shown}`, versionKey: rows.join(' ') }
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
  const [record] = await present(app, viewer, [issue], {}, subscribedLookup(issueKind, viewer, issue))
  return record!
}

async function present(
  app: App,
  viewer: User | null,
  issues: readonly Issue[],
  { with_labels_details, isMixed = false }: RecordOptions,
  subscription?: ReturnType<typeof subscribedLookup>,
): Promise<IssueRecord[]> {
  const { db } = app
  const present = <T>(some: readonly (T | null)[]) => some.filter((one) => one !== null)
  const named = issues.flatMap(({ author_id, closed_by_id }) => [author_id, closed_by_id])
  const lookups = relationLookups(db, issueKind, issues, named)
  const [around, found, twins] = await Promise.all([
    surroundings(app),
    askTogether(db, { ...lookups, subscription: subscription ?? nothing(undefined) }),
    findIssues(db, present(issues.map((issue) => issue.duplicated_to_id))).then((found) =>
      readableItems(app, issueRules, viewer, found),
    ),
  ])
  const [users, subscribed] = await Promise.all([usersIn(app, found), found.subscription?.(app)])
  const relations = relationsFrom(app, found, users)
  return joinUsers(issues, { author: 'author_id', closer: 'closed_by_id' }, users).map((issue) =>
    presentIssue(
      {
        ...issue,
        ...relations(issue),
        duplicate: twins.find(({ id }) => id === issue.duplicated_to_id) ?? null,
        ...(subscribed !== undefined && { subscribed }),
      },
      { users: around, labelDetails: Boolean(with_labels_details), isMixed },
    ),
  )
}
