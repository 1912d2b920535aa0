/** The manual order of issues: numbers with gaps between them. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { badParameter, notFound } from '../../../errors.ts'
import { transact } from '../../../store/transact.ts'
import type { Issue } from './model.ts'
import { lockIssue } from './service.ts'

/** An issue that was never moved has its id as position. */
export const POSITION = sql<number>`coalesce(issues.relative_position, cast(issues.id as double precision))`

/** So many followers are spread out where the gap is too small. */
const NEIGHBOURS = [64, 4096]
const LEAST_ROOM = 0.001

/** Moves an issue directly after or before another one of the project, by id. */
export async function reorderIssue(
  app: App,
  { id, project_id }: Issue,
  input: { after: number | null; before: number | null },
): Promise<Issue> {
  if (input.after === null && input.before === null) {
    throw badParameter('move_after_id, move_before_id are missing, at least one parameter must be provided')
  }
  return transact(app, async (app) => {
    await lockIssue(app, id)
    const low = input.after === null ? null : await positionOf(app, project_id, input.after)
    const high = input.before === null ? null : await positionOf(app, project_id, input.before)
    const relative_position = await between(app, { id, project_id }, low, high)
    return app.db
      .updateTable('issues')
      .set({ relative_position })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

async function positionOf({ db }: App, project: number, id: number): Promise<number> {
  const found = await db
    .selectFrom('issues')
    .select(POSITION.as('position'))
    .where('id', '=', id)
    .where('project_id', '=', project)
    .executeTakeFirst()
  if (!found) throw notFound('Issue')
  return found.position
}

/** The nearest other issues of the project, from a position on. */
async function nextTo(
  { db }: App,
  { id, project_id }: Pick<Issue, 'id' | 'project_id'>,
  from: number,
  { way, most }: { way: 'asc' | 'desc'; most: number },
): Promise<{ id: number; position: number }[]> {
  return db
    .selectFrom('issues')
    .select(['id', POSITION.as('position')])
    .where('project_id', '=', project_id)
    .where('id', '<>', id)
    .where(POSITION, way === 'asc' ? '>' : '<', from)
    .orderBy(POSITION, way)
    .limit(most)
    .execute()
}

async function between(
  app: App,
  issue: Pick<Issue, 'id' | 'project_id'>,
  after: number | null,
  before: number | null,
): Promise<number> {
  const one = async (from: number, way: 'asc' | 'desc') =>
    (await nextTo(app, issue, from, { way, most: 1 }))[0]?.position
  const low = after ?? (await one(before!, 'desc')) ?? before! - 2
  const high = (after === null ? before : await one(low, 'asc')) ?? low + 2
  const middle = low + (high - low) / 2
  if (low < middle && middle < high) return middle
  await setApart(app, issue, low)
  return between(app, issue, low, null)
}

/** Spreads the following issues evenly: enough of them to make a gap, or all. */
async function setApart(app: App, issue: Pick<Issue, 'id' | 'project_id'>, low: number): Promise<void> {
  for (const most of NEIGHBOURS) {
    const followers = await nextTo(app, issue, low, { way: 'asc', most })
    const isAll = followers.length < most || most === NEIGHBOURS.at(-1)
    const step = isAll ? 1 : (followers.at(-1)!.position - low) / followers.length
    if (step < LEAST_ROOM) continue
    for (const [n, { id }] of followers.entries()) {
      await app.db
        .updateTable('issues')
        .set({ relative_position: low + (n + 1) * step })
        .where('id', '=', id)
        .execute()
    }
    return
  }
}
