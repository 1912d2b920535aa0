import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { conflict, notFound, taken } from '../../../errors.ts'
import { Reporter } from '../../../lib/levels.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { moveToBin } from '../bin/service.ts'
import { columnsAt, type ScopeRow } from '../scopes.ts'
import { lockItemsWith, settleLater } from '../settling.ts'
import { cleanTitle } from '../titles.ts'
import { labelBin } from './bin.ts'
import type { Label } from './model.ts'
import { labelsTitled } from './queries.ts'
import { lockTitle } from './titles.ts'
import { assertValidLabel, labelTitleFaults } from './validation.ts'

interface NewLabel {
  name: string
  color: string
  description?: string | null | undefined
  /** Only for labels of a project. */
  priority?: number | null | undefined
}

export async function createLabel(app: App, actor: User, scope: ScopeRow, input: NewLabel): Promise<Label> {
  const { priority, description = null } = input
  const { title, color } = assertValidLabel({ title: cleanTitle(input.name), color: input.color, description })
  return transact(app, async (app) => {
    await lockTitle(app, title)
    if ((await labelsTitled(app.db, scope, [title])).size > 0) throw conflict('Label already exists')
    const label = await insertLabel(app, scope, { title, color, description }, actor.id)
    await setPriority(app, scope, label, priority)
    return label
  })
}

/** The caller has locked the title. */
export async function insertLabel(
  app: TransactionApp,
  scope: ScopeRow,
  columns: Pick<Label, 'title' | 'color' | 'description'>,
  by: number,
): Promise<Label> {
  const now = timestamp(app.clock)
  const label = await app.db
    .insertInto('labels')
    .values({ ...columnsAt(scope), ...columns, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  const { id, project_id, group_id } = label
  await emit(app, 'label.created', { id, project_id, group_id, by })
  return label
}

interface LabelChange {
  new_name?: string | null | undefined
  color?: string | null | undefined
  description?: string | null | undefined
  /** Null removes the priority. */
  priority?: number | null | undefined
}

export async function updateLabel(
  app: App,
  actor: User,
  scope: ScopeRow,
  { id }: Label,
  { new_name, color, description, priority }: LabelChange,
): Promise<Label> {
  const change = assertValidLabel({
    ...(typeof new_name === 'string' && { title: cleanTitle(new_name) }),
    ...(typeof color === 'string' && { color }),
    ...(description !== undefined && { description }),
  })
  return transact(app, async (app) => {
    if (change.title !== undefined) await assertTitleFree(app, scope, id, change.title)
    const label = await app.db
      .updateTable('labels')
      .set({ ...change, updated_at: timestamp(app.clock) })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst()
    if (!label) throw notFound('Label') // deleted by another request meanwhile
    await setPriority(app, scope, label, priority)
    await emit(app, 'label.updated', { id, project_id: label.project_id, group_id: label.group_id, by: actor.id })
    return label
  })
}

async function assertTitleFree(app: TransactionApp, scope: ScopeRow, id: number, title: string): Promise<void> {
  await lockTitle(app, title)
  const other = (await labelsTitled(app.db, scope, [title])).get(title)
  if (other && other.id !== id) throw taken('title')
}

async function setPriority(
  app: TransactionApp,
  { project }: ScopeRow,
  { id: label_id }: Label,
  priority: number | null | undefined,
): Promise<void> {
  if (project === null || priority === undefined) return
  const { db } = app
  const { id: project_id } = project
  await settleLater(app, { label: label_id, project: project_id })
  if (priority === null) {
    const ofLabel = db.deleteFrom('label_priorities').where('label_id', '=', label_id)
    await ofLabel.where('project_id', '=', project_id).execute()
    return
  }
  await db
    .insertInto('label_priorities')
    .values({ project_id, label_id, priority })
    .onConflict((given) => given.columns(['project_id', 'label_id']).doUpdateSet({ priority }))
    .execute()
}

/** Also removes the label from all records, and its lists from boards. */
export async function deleteLabel(app: App, actor: User, label: Label): Promise<void> {
  if (!(await moveToBin(app, labelBin, label, actor))) await deleteAtOnce(app, actor, label)
}

async function deleteAtOnce(app: App, actor: User, { id, project_id, group_id, title }: Label): Promise<void> {
  await transact(app, async (app) => {
    await lockItemsWith(app, { label: id })
    const { numDeletedRows } = await app.db.deleteFrom('labels').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Label') // deleted by another request meanwhile
    await emit(app, 'label.deleted', { id, project_id, group_id, title, by: actor.id })
  })
}

const USUAL_COLOR = '#428BCA'

/**
 * Labels by title for an issue or a merge request, in the given order. An unknown title becomes a label of the project
 * where the caller may create one. Otherwise, or if the title is invalid, it is skipped.
 */
export async function findOrCreateLabels(
  app: App,
  actor: User,
  { project, namespace, level }: Pick<ProjectSubject, 'project' | 'namespace' | 'level'>,
  titles: readonly string[],
): Promise<Label[]> {
  const scope = { project, namespace }
  const cleanTitles = [...new Set(titles.map(cleanTitle))].filter((title) => labelTitleFaults(title).length === 0)
  const known = await labelsTitled(app.db, scope, cleanTitles)
  const unknown = cleanTitles.filter((title) => !known.has(title))
  if (unknown.length === 0 || level < Reporter || project.archived) return labelsIn(known, cleanTitles)
  return transact(app, async (app) => {
    // Lock in a fixed order, so that two transactions never deadlock.
    for (const title of unknown.toSorted()) await lockTitle(app, title)
    const now = await labelsTitled(app.db, scope, cleanTitles)
    for (const title of unknown) {
      if (now.has(title)) continue // created by another request meanwhile
      now.set(title, await insertLabel(app, scope, { title, color: USUAL_COLOR, description: null }, actor.id))
    }
    return labelsIn(now, cleanTitles)
  })
}

const labelsIn = (labels: ReadonlyMap<string, Label>, titles: readonly string[]): Label[] =>
  titles.flatMap((title) => labels.get(title) ?? [])
