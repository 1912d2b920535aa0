import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { NewRow } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { moveToBin } from '../bin/service.ts'
import { recordMilestone } from '../events/service.ts'
import { nextIid, transactNumbered } from '../iids.ts'
import { columnsAt, type ScopeRow } from '../scopes.ts'
import { lockItemsWith, settleLater } from '../settling.ts'
import { cleanTitle } from '../titles.ts'
import { milestoneBin } from './bin.ts'
import type { Milestone } from './model.ts'
import { lockMilestoneTitle, milestonesTitled } from './titles.ts'
import { TITLE_TAKEN, assertValidMilestone, milestoneRefusal } from './validation.ts'

interface MilestoneDates {
  description?: string | null | undefined
  start_date?: string | null | undefined
  due_date?: string | null | undefined
}

export interface NewMilestone extends MilestoneDates {
  title: string
}

export interface MilestoneChange extends MilestoneDates {
  title?: string | null | undefined
  state_event?: 'close' | 'activate' | null | undefined
}

export async function createMilestone(app: App, actor: User, scope: ScopeRow, input: NewMilestone): Promise<Milestone> {
  const { description = null, start_date = null, due_date = null } = input
  const columns = { title: cleanTitle(input.title), description, start_date, due_date }
  assertValidMilestone('create', columns)
  return transactNumbered(app, parentOf(scope), 'milestones', async (app) => {
    await lockMilestoneTitle(app, columns.title)
    const taken = await milestonesTitled(app, scope, columns.title)
    if (taken.length > 0) throw milestoneRefusal('create', { title: [TITLE_TAKEN] })
    return insertMilestone(app, scope, columns, actor.id)
  })
}

const parentOf = ({ project, namespace }: ScopeRow) =>
  project ? { project_id: project.id } : { group_id: namespace.id }

/** The caller has locked the title. */
export async function insertMilestone(
  app: TransactionApp,
  scope: ScopeRow,
  columns: Pick<NewRow<'milestones'>, 'title' | 'description' | 'start_date' | 'due_date' | 'state'>,
  by: number,
): Promise<Milestone> {
  const now = timestamp(app.clock)
  const iid = await nextIid(app.db, parentOf(scope), 'milestones')
  const milestone = await app.db
    .insertInto('milestones')
    .values({ ...columnsAt(scope), iid, ...columns, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  await recordMilestone(app, by, milestone, 'created')
  const { id, project_id, group_id } = milestone
  await emit(app, 'milestone.created', { id, project_id, group_id, by })
  return milestone
}

export async function updateMilestone(
  app: App,
  actor: User,
  scope: ScopeRow,
  { id }: Milestone,
  { title, description, start_date, due_date, state_event }: MilestoneChange,
): Promise<Milestone> {
  const change = {
    ...(typeof title === 'string' && { title: cleanTitle(title) }),
    ...(description !== undefined && { description }),
    ...(start_date !== undefined && { start_date }),
    ...(due_date !== undefined && { due_date }),
    ...(state_event && { state: state_event === 'close' ? ('closed' as const) : ('active' as const) }),
  }
  return transact(app, async (app) => {
    if (change.title !== undefined) await lockMilestoneTitle(app, change.title)
    const before = await app.db
      .selectFrom('milestones')
      .selectAll()
      .where('id', '=', id)
      .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
      .executeTakeFirst()
    if (!before) throw notFound() // deleted by another request meanwhile
    assertValidMilestone('update', { ...before, ...change })
    const twins = change.title === undefined ? [] : await milestonesTitled(app, scope, change.title)
    if (twins.some((twin) => twin.id !== id)) throw milestoneRefusal('update', { title: [TITLE_TAKEN] })
    const after = await app.db
      .updateTable('milestones')
      .set({ ...change, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    if (after.due_date !== before.due_date) await settleLater(app, { milestone: id })
    const event = { id, project_id: after.project_id, group_id: after.group_id, by: actor.id }
    if (after.state === before.state) await emit(app, 'milestone.updated', event)
    else {
      await recordMilestone(app, actor.id, after, after.state === 'closed' ? 'closed' : 'reopened')
      await emit(app, after.state === 'closed' ? 'milestone.closed' : 'milestone.activated', event)
    }
    return after
  })
}

/** Issues and merge requests lose the milestone. */
export async function deleteMilestone(app: App, actor: User, milestone: Milestone): Promise<void> {
  if (!(await moveToBin(app, milestoneBin, milestone, actor))) await deleteAtOnce(app, actor, milestone)
}

async function deleteAtOnce(app: App, actor: User, milestone: Milestone): Promise<void> {
  const { id, project_id, group_id, title } = milestone
  await transact(app, async (app) => {
    await lockItemsWith(app, { milestone: id })
    const { numDeletedRows } = await app.db.deleteFrom('milestones').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
    await recordMilestone(app, actor.id, milestone, 'destroyed')
    await emit(app, 'milestone.deleted', { id, project_id, group_id, title, by: actor.id })
  })
}
