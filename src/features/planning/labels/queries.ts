import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { FeatureEnabled, FeaturePrivate, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { binaryText, idList, inIdList, likePattern } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import { isAt, isSeenFrom, type Mount, type Place, type Where } from '../places.ts'
import { subscribedLabels } from '../subscriptions/queries.ts'
import { presentLabel, type LabelCounts, type LabelRecord, type LoadedLabel } from './entity.ts'
import type { Label } from './model.ts'

const labelsSeenFrom = (db: Db, place: Where) =>
  db.selectFrom('labels').selectAll('labels').where(isSeenFrom(place, 'labels'))

/** Those of a project, of the group it lies in and of the groups above, by title. */
export const labelsVisibleIn = (
  db: Db,
  project: { readonly id: number },
  namespace: { readonly id: number },
): Promise<Label[]> => labelsSeenFrom(db, { project, namespace }).orderBy(byTitle(db)).orderBy('id').execute()

const byTitle = (db: Db) => sql.raw(binaryText(db, 'labels.title'))

/** A project's own label stands before one of a group that was given the same title later. */
const nearest = (labels: readonly Label[]): Label | undefined =>
  labels.find(({ project_id }) => project_id !== null) ?? labels[0]

/** Exactly so titled, by title. */
export async function labelsTitled(db: Db, place: Where, titles: readonly string[]): Promise<Map<string, Label>> {
  if (titles.length === 0) return new Map()
  const found = await labelsSeenFrom(db, place).where('title', 'in', titles).orderBy('id').execute()
  return new Map(
    Array.from(
      Map.groupBy(found, ({ title }) => title),
      ([title, some]) => [title, nearest(some)!],
    ),
  )
}

/** By id, else by title. */
async function findLabel(db: Db, place: Where, given: string, wish: { own: boolean }): Promise<Label | null> {
  const id = /^\d{1,15}$/.test(given) ? Number(given) : 0
  const found = await labelsSeenFrom(db, place)
    .where((eb) => eb.or([eb('id', '=', id), eb('title', '=', given)]))
    .$if(wish.own, (query) => query.where(isAt(place, 'labels')))
    .orderBy('id')
    .execute()
  return found.find((label) => label.id === id) ?? nearest(found) ?? null
}

export async function findVisibleLabel(db: Db, place: Where, id: number): Promise<Label | null> {
  return (await labelsSeenFrom(db, place).where('id', '=', id).executeTakeFirst()) ?? null
}

/** The labels of issues by issue, sorted by title; one query. */
export async function labelsOf(db: Db, issues: readonly number[]): Promise<Map<number, Label[]>> {
  if (issues.length === 0) return new Map()
  const rows = await db
    .selectFrom('issue_labels')
    .innerJoin('labels', 'labels.id', 'issue_labels.label_id')
    .selectAll('labels')
    .select('issue_labels.issue_id')
    .where(inIdList(db, 'issue_labels.issue_id', idList(db, issues)))
    .orderBy(byTitle(db))
    .orderBy('labels.id')
    .execute()
  const byIssue = new Map<number, Label[]>()
  for (const { issue_id, ...label } of rows) {
    const labels = byIssue.get(issue_id)
    if (labels) labels.push(label)
    else byIssue.set(issue_id, [label])
  }
  return byIssue
}

export interface LabelFilter {
  search?: string | null | undefined
  include_ancestor_groups?: boolean | null | undefined
  /** Of groups. */
  include_descendant_groups?: boolean | null | undefined
  only_group_labels?: boolean | null | undefined
}

/** By title. */
export async function listLabels(db: Db, place: Place, filter: LabelFilter, page: PageWish): Promise<Page<Label>> {
  if (!place.issues && !place.mergeRequests) return { items: [], total: 0 }
  const pattern = filter.search?.trim() ? likePattern(filter.search.trim()) : null
  const found = db
    .selectFrom('labels')
    .selectAll('labels')
    .where(scopeOf(db, place, filter))
    .$if(pattern !== null, (query) =>
      query.where(
        sql<boolean>`(lower(title) like lower(${pattern}) escape '\\' or lower(description) like lower(${pattern}) escape '\\')`,
      ),
    )
    .orderBy(byTitle(db))
    .orderBy('id')
  return pageOfQuery(found, page)
}

function scopeOf(db: Db, place: Place, filter: LabelFilter) {
  const { project, namespace, viewer } = place
  const isDirect =
    project === null
      ? isAt(place, 'labels')
      : sql<boolean>`(${isAt(place, 'labels')} or labels.group_id = ${namespace.id})`
  const around = (filter.include_ancestor_groups ?? true) ? isSeenFrom(place, 'labels') : isDirect
  if (project !== null) return around

  const parts = [around]
  const below = filter.include_descendant_groups ?? false
  const open = sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))
  const isMine = (column: string, mine: ReturnType<typeof sql<boolean>>) =>
    viewer?.admin ? sql<boolean>`true` : sql<boolean>`(${sql.ref(column)} in (${open}) or ${mine})`
  if (below) {
    const mine = sql<boolean>`n.id in (${groupsOfUser(viewer!.id)})`
    parts.push(sql`labels.group_id in (select n.id from namespaces n where n.id in (${treeOf(db, namespace.id)})
      and not n.deleting and ${isMine('n.visibility', mine)})`)
  }
  if (filter.only_group_labels === false) {
    const groups = below ? sql`in (${treeOf(db, namespace.id)})` : sql`= ${namespace.id}`
    const mine = sql<boolean>`exists (select 1 from project_authorizations mine
      where mine.project_id = p.id and mine.user_id = ${viewer!.id})`
    parts.push(sql`labels.project_id in (select p.id from projects p where p.namespace_id ${groups}
      and not p.deleting and ${isMine('p.visibility', mine)})`)
  }
  return sql<boolean>`(${sql.join(parts, sql` or `)})`
}

type Counted = Pick<Row<'issue_labels_facets'>, 'label_id' | 'state'> & { total: number }

const inPlace = (db: Db, { project, namespace }: Where) =>
  project === null ? sql<boolean>`p.namespace_id in (${treeOf(db, namespace.id)})` : sql<boolean>`p.id = ${project.id}`

/** Whether the project of a row shows its issues to the viewer, whose own right on it is `mine`. */
const showsIssues = (viewer: User) => {
  const open = sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))
  const isMine = viewer.admin ? sql`true` : sql`mine.access_level >= ${sql.lit(Guest)}`
  return sql<boolean>`not p.deleting and p.issues_access_level >= ${sql.lit(FeaturePrivate)}
    and (${isMine} or (p.visibility in (${open}) and p.issues_access_level = ${sql.lit(FeatureEnabled)}))`
}

/** Whether all issues of the project are the viewer's to see, confidential ones too. */
const showsAll = (viewer: User) =>
  viewer.admin ? sql<boolean>`true` : sql<boolean>`coalesce(mine.access_level, 0) >= ${sql.lit(Reporter)}`

const myRight = (viewer: User) =>
  sql`left join project_authorizations mine on mine.project_id = p.id and mine.user_id = ${viewer.id}`

/** How many issues of the place have each of the labels, of those that the viewer sees. */
async function countIssues(db: Db, viewer: User, place: Place, labels: string): Promise<Map<number, LabelCounts>> {
  const { rows } = await sql<Counted>`select f.label_id, f.state, sum(f.total) as total
    from issue_labels_facets f join projects p on p.id = f.project_id ${myRight(viewer)}
    where ${inIdList(db, 'f.label_id', labels)} and ${inPlace(db, place)} and ${showsIssues(viewer)}
    and (not f.confidential or ${showsAll(viewer)})
    group by f.label_id, f.state`.execute(db)
  const counts = new Map<number, { opened: number; closed: number }>()
  for (const { label_id, state, total } of [...rows, ...(await countOwn(db, viewer, place, labels))]) {
    const count = counts.get(label_id) ?? { opened: 0, closed: 0 }
    count[state] += Number(total)
    counts.set(label_id, count)
  }
  return counts
}

/** Confidential ones that are the viewer's own where they do not see all. */
async function countOwn(db: Db, viewer: User, place: Place, labels: string): Promise<Counted[]> {
  if (place.level >= Reporter) return []
  const { rows } = await sql<Counted>`select l.label_id, i.state, count(*) as total
    from issues i join issue_labels l on l.issue_id = i.id join projects p on p.id = i.project_id ${myRight(viewer)}
    where i.id in (select id from issues where author_id = ${viewer.id} and confidential
      union select issue_id from issue_assignees where user_id = ${viewer.id})
    and i.confidential and ${inIdList(db, 'l.label_id', labels)} and ${inPlace(db, place)}
    and ${showsIssues(viewer)} and not ${showsAll(viewer)}
    group by l.label_id, i.state`.execute(db)
  return rows
}

/** The records of a page, in a fixed number of queries. */
export async function presentLabels(
  { db }: App,
  viewer: User,
  place: Place,
  labels: readonly Label[],
  { counts = true }: { counts?: boolean } = {},
): Promise<LabelRecord[]> {
  if (labels.length === 0) return []
  const { project } = place
  const ids = labels.map(({ id }) => id)
  const list = idList(db, ids)
  const counted = counts ? await countIssues(db, viewer, place, list) : null
  const subscribed = await subscribedLabels(db, viewer.id, ids, project?.id ?? null)
  const priorities = project && (await prioritiesOf(db, project.id, list))
  return labels.map((label) => {
    const loaded: LoadedLabel = {
      ...label,
      counts: counted && (counted.get(label.id) ?? { opened: 0, closed: 0 }),
      subscribed: subscribed.has(label.id),
      ...(priorities && { priority: priorities.get(label.id) ?? null }),
    }
    return presentLabel(loaded)
  })
}

export async function presentOneLabel(app: App, viewer: User, place: Place, label: Label): Promise<LabelRecord> {
  return (await presentLabels(app, viewer, place, [label]))[0]!
}

async function prioritiesOf(db: Db, project: number, labels: string): Promise<Map<number, number>> {
  const rows = await db
    .selectFrom('label_priorities')
    .select(['label_id', 'priority'])
    .where('project_id', '=', project)
    .where(inIdList(db, 'label_id', labels))
    .execute()
  return new Map(rows.map(({ label_id, priority }) => [label_id, priority]))
}

const hasWork = ({ issues, mergeRequests }: Place) => issues || mergeRequests

/** `…/labels/:label_id`: an id or a title, also of a group's label where it is seen. */
export const label = ({ place }: Mount) =>
  child(place, {
    name: 'Label',
    key: 'label',
    params: { label_id: text },
    find: async (app, place, { label_id }) =>
      hasWork(place) ? findLabel(app.db, place, label_id, { own: false }) : null,
  })

/** The same, to be changed: of the place itself. */
export const ownLabel = ({ place }: Mount) =>
  child(place, {
    name: 'Label',
    key: 'label',
    params: { label_id: text },
    find: (app, place, { label_id }) => findLabel(app.db, place, label_id, { own: true }),
  })

/** `…/labels` with the label named in the body. */
export const namedLabel = ({ place }: Mount) =>
  child(place, {
    name: 'Label',
    key: 'label',
    params: { name: text.nullish(), label_id: text.nullish() },
    find: (app, place, { name, label_id }) => findLabel(app.db, place, name ?? label_id!, { own: true }),
  })
