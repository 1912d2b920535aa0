import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { today } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { cachedTotal } from '../../../store/counts.ts'
import { matchingId, idList, inIdList, likePattern, whereContains } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { searchFor } from '../../../store/lists.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import { countRows, pageOfQuery } from '../../../store/pages.ts'
import { columnsAt, isAt, isSeenFrom, type PlanningScope, type ScopeRow } from '../scopes.ts'
import { presentMilestone, type LoadedMilestone, type MilestoneRecord, type MilestoneSurroundings } from './entity.ts'
import type { Milestone } from './model.ts'

/** A milestone of the scope itself or of an ancestor group. */
export async function findVisibleMilestone(db: Db, scope: ScopeRow, id: number): Promise<Milestone | null> {
  const found = await db
    .selectFrom('milestones')
    .selectAll()
    .where(isSeenFrom(scope, 'milestones'))
    .where('id', '=', id)
    .executeTakeFirst()
  return found ?? null
}

const scopedMilestones = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('milestones as m')
    .leftJoin('projects as p', 'p.id', 'm.project_id')
    .leftJoin('namespaces as n', (join) => join.on(sql<boolean>`n.id = coalesce(p.namespace_id, m.group_id)`))
    .selectAll('m')
    .select(['n.full_path', 'p.path as project_path'])
    .where(inIdList(db, 'm.id', p.ids)),
)

/** By id, each with the path of its scope; one query. */
export const milestonesOf = async (
  db: Db,
  ids: readonly (number | null)[],
): Promise<ReadonlyMap<number, LoadedMilestone>> => milestoneLookup(db, ids).ask(db)

export function milestoneLookup(db: Db, ids: readonly (number | null)[]): Lookup<ReadonlyMap<number, LoadedMilestone>> {
  const uniqueIds = [...new Set(ids)].filter((one) => one !== null)
  return lookup(scopedMilestones, uniqueIds.length === 0 ? null : { ids: idList(db, uniqueIds) }, (rows) => {
    const loaded = rows.map(({ full_path, project_path, ...milestone }) => {
      const path = project_path === null ? full_path! : `${full_path}/${project_path}`
      return [milestone.id, { ...milestone, path }] as const
    })
    return new Map(loaded)
  })
}

export const milestoneSurroundings = ({ url, clock }: App): MilestoneSurroundings => ({ url, today: today(clock) })

/** The records of a page of milestones. */
export async function presentMilestones(app: App, milestones: readonly Milestone[]): Promise<MilestoneRecord[]> {
  const loaded = await milestonesOf(
    app.db,
    milestones.map(({ id }) => id),
  )
  const around = milestoneSurroundings(app)
  return milestones.flatMap((milestone) => {
    const found = loaded.get(milestone.id)
    return found ? [presentMilestone({ ...milestone, path: found.path }, around)] : [] // deleted meanwhile
  })
}

export interface MilestoneFilter {
  state?: 'active' | 'closed' | 'all' | null | undefined
  iids?: readonly number[] | null | undefined
  title?: string | null | undefined
  search?: string | null | undefined
  /** Includes milestones of ancestor groups. */
  ancestors?: boolean | null | undefined
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
}

/** Up to this number of matches the text index is used; beyond it, the milestones of the scope are read. */
const FEW = 500

/** Ids of matching milestones in all scopes. Null if there are too many. */
async function fewWith(db: Db, text: string): Promise<number[] | null> {
  const { substring } = searchFor(db, text)
  if (substring === undefined) return null
  const ids = db.selectFrom('milestones').select(matchingId(db, 'milestones').as('id'))
  const found = await whereContains(db, ids, 'milestones', ['title', 'description'], substring)
    .limit(FEW + 1)
    .execute()
  return found.length <= FEW ? found.map(({ id }) => id) : null
}

/** Newest first. */
export async function listMilestones(
  db: Db,
  scope: ScopeRow,
  filter: MilestoneFilter,
  page: PageRequest,
): Promise<Page<Milestone>> {
  const { state, iids, title, updated_after, updated_before } = filter
  const search = filter.search?.trim() || null
  const few = search === null ? null : await fewWith(db, search)
  const pattern = search === null ? null : likePattern(search)
  const found = db
    .selectFrom('milestones')
    .selectAll('milestones')
    .where(filter.ancestors ? isSeenFrom(scope, 'milestones') : isAt(scope, 'milestones'))
    .$if(few !== null, (query) => query.where(inIdList(db, 'milestones.id', idList(db, few!))))
    .$if(state === 'active' || state === 'closed', (query) => query.where('state', '=', state as 'active'))
    .$if(Boolean(iids && iids.length > 0), (query) => query.where(inIdList(db, 'milestones.iid', idList(db, iids!))))
    .$if(Boolean(title), (query) => query.where('title', '=', title!))
    .$if(pattern !== null, (query) =>
      query.where(
        sql<boolean>`(lower(title) like lower(${pattern}) escape '\\' or lower(description) like lower(${pattern}) escape '\\')`,
      ),
    )
    .$if(Boolean(updated_after), (query) => query.where('updated_at', '>=', updated_after!))
    .$if(Boolean(updated_before), (query) => query.where('updated_at', '<=', updated_before!))
    .orderBy('id', 'desc')
  if (pattern === null || few !== null || filter.ancestors || updated_after || updated_before)
    return pageOfQuery(found, page)
  // Counting matches of a text search reads all texts, so the total is cached.
  const key = `milestones ${JSON.stringify([columnsAt(scope), state, iids, title, pattern])}`
  const count = () => cachedTotal(db, ['milestones', 'milestone_texts'], key, () => countRows(found))
  return pageOfQuery(found, page, count)
}

/** `…/milestones/:milestone_id`: only of the scope itself. */
export const milestone = ({ resource }: PlanningScope) =>
  child(resource, {
    key: 'milestone',
    params: { milestone_id: id },
    find: (app, scope, { milestone_id }) =>
      app.db
        .selectFrom('milestones')
        .selectAll()
        .where(isAt(scope, 'milestones'))
        .where('id', '=', milestone_id)
        .executeTakeFirst(),
  })
