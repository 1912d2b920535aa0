/** How many issues and merge requests have a label: added up from what triggers keep, whoever asks and however many there are. */
import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import { FeatureEnabled, FeaturePrivate, Guest, Reporter } from '../../../lib/levels.ts'
import type { Db, Row } from '../../../store/database.ts'
import { inIdList, unindexed } from '../../../store/dialect.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { treeOf } from '../../identity/namespaces/queries.ts'
import type { Place, Where } from '../places.ts'
import { isReadable, seesMergeRequests } from '../seeing.ts'
import type { LabelCounts } from './entity.ts'

type Counted = Pick<Row<'issue_labels_facets'>, 'label_id' | 'state'> & { total: number }

const inPlace = (db: Db, { project, namespace }: Where) =>
  project === null ? sql<boolean>`p.namespace_id in (${treeOf(db, namespace.id)})` : sql<boolean>`p.id = ${project.id}`

/** Whether the project of a row shows its issues to the viewer, whose own right on it is `mine`. */
const showsIssues = (viewer: User | null) => {
  const open = sql.join(openVisibilities(viewer).map((one) => sql.lit(one)))
  const isMine = viewer?.admin ? sql`true` : sql`mine.access_level >= ${sql.lit(Guest)}`
  return sql<boolean>`not p.deleting and p.issues_access_level >= ${sql.lit(FeaturePrivate)}
    and (${isMine} or (p.visibility in (${open}) and p.issues_access_level = ${sql.lit(FeatureEnabled)}))`
}

/** Whether all issues of the project are the viewer's to see, confidential ones too. */
const showsAll = (viewer: User | null) =>
  viewer?.admin ? sql<boolean>`true` : sql<boolean>`coalesce(mine.access_level, 0) >= ${sql.lit(Reporter)}`

const myRight = (viewer: User | null) =>
  sql`left join project_authorizations mine on mine.project_id = p.id and mine.user_id = ${viewer?.id ?? 0}`

/** How many of the place have each of the labels, of those that the viewer sees. */
export async function countLabelled(
  db: Db,
  viewer: User | null,
  place: Place,
  labels: string,
): Promise<Map<number, LabelCounts>> {
  const [issues, mergeRequests] = await Promise.all([
    countIssues(db, viewer, place, labels),
    countMergeRequests(db, viewer, place, labels),
  ])
  const ids = [...issues.keys(), ...mergeRequests.keys()]
  return new Map(
    ids.map((id) => [
      id,
      { ...(issues.get(id) ?? { opened: 0, closed: 0 }), mergeRequests: mergeRequests.get(id) ?? 0 },
    ]),
  )
}

/** Open ones, of projects where the viewer sees all. */
async function countMergeRequests(
  db: Db,
  viewer: User | null,
  place: Place,
  labels: string,
): Promise<Map<number, number>> {
  const way = { internalToo: openVisibilities(viewer).includes('internal') }
  const isSeen = viewer?.admin ? sql`true` : sql`${isReadable(way)} and ${seesMergeRequests(way)}`
  const { rows } = await sql<{ label_id: number; total: number }>`select f.label_id, sum(f.total) as total
    from merge_request_labels_facets f join projects p on p.id = f.project_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer?.id ?? 0}
    where ${inIdList(db, 'f.label_id', labels)} and ${inPlace(db, place)} and not p.deleting
    and f.state in ('opened', 'locked') and ${isSeen}
    group by f.label_id`.execute(db)
  return new Map(rows.map(({ label_id, total }) => [label_id, Number(total)]))
}

async function countIssues(
  db: Db,
  viewer: User | null,
  place: Place,
  labels: string,
): Promise<Map<number, Pick<LabelCounts, 'opened' | 'closed'>>> {
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
async function countOwn(db: Db, viewer: User | null, place: Place, labels: string): Promise<Counted[]> {
  if (place.level >= Reporter) return []
  const { rows } = await sql<Counted>`select l.label_id, i.state, count(*) as total
    from issues i join issue_labels l on l.issue_id = i.id
    join projects p on p.id = ${unindexed(db, 'i.project_id')} ${myRight(viewer)}
    where i.id in (select id from issues where author_id = ${viewer?.id ?? 0} and confidential
      union select issue_id from issue_assignees where user_id = ${viewer?.id ?? 0})
    and i.confidential and ${inIdList(db, 'l.label_id', labels)} and ${inPlace(db, place)}
    and ${showsIssues(viewer)} and not ${showsAll(viewer)}
    group by l.label_id, i.state`.execute(db)
  return rows
}
