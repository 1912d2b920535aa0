/** What creating, updating and deleting an item does for all kinds. Call all of it in the transaction of the change. */
import { mayRefer } from '../../../lib/text/references.ts'
import { z } from 'zod'
import { filled, limited } from '../../../api/rules.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { recordItem } from '../events/service.ts'
import type { Label } from '../labels/model.ts'
import { findOrCreateLabels } from '../labels/service.ts'
import type { Milestone } from '../milestones/model.ts'
import { findVisibleMilestone, milestonesOf } from '../milestones/queries.ts'
import { addSystemNotes, type SystemNote } from '../notes/system.ts'
import { addResourceEvents } from '../resource-events/service.ts'
import { editedBy, timestampChanges } from '../timestamps.ts'
import { LONGEST_TITLE } from '../titles.ts'
import { addAssignedTodos, finishTodos } from '../todos/service.ts'
import type { ItemChanges, ItemState } from './changes.ts'
import { columnsOfItem, targetOfItem, type ItemKind, type ItemRow } from './kind.ts'
import { addLinks, labelsOfItems, missingIn, replaceLinks, usersOfItems, type Linked } from './links.ts'
import { tasksOf } from './rows.ts'

/** The input that all items have. */
export interface ItemInput {
  title?: string | undefined
  description?: string | null | undefined
  state_event?: 'close' | 'reopen' | undefined
  discussion_locked?: boolean | null | undefined
  assignee_ids?: readonly number[] | undefined
  milestone_id?: number | null | undefined
  labels?: readonly string[] | undefined
  add_labels?: readonly string[] | undefined
  remove_labels?: readonly string[] | undefined
}

/** The rules of the texts that all items have. */
export const itemTexts = {
  title: filled(z.string().trim(), LONGEST_TITLE, { codePoints: true }),
  description: limited(z.string(), 1_048_576),
}

/** A row with what is linked to it. */
export async function stateOf<R extends ItemRow>({ db }: App, kind: ItemKind, row: R): Promise<R & ItemState> {
  const [labels, milestones, assigned, reviewing] = await Promise.all([
    labelsOfItems(db, kind, [row.id]),
    milestonesOf(db, [row.milestone_id]),
    usersOfItems(db, kind, 'assignees', [row.id]),
    usersOfItems(db, kind, 'reviewers', [row.id]),
  ])
  const people = async (ids: readonly number[] = []) => {
    const links = ids.map((user_id) => ({ user_id }))
    return (await withUsers(db, links, { user: 'user_id' })).map(({ user }) => user)
  }
  return {
    ...row,
    labels: labels.get(row.id) ?? [],
    milestone: milestones.get(row.milestone_id ?? 0) ?? null,
    assignees: await people(assigned.get(row.id)),
    reviewers: await people(reviewing.get(row.id)),
  }
}

const labelsNamed = async (app: TransactionApp, actor: User, subject: ProjectSubject, titles: readonly string[] = []) =>
  titles.length > 0 ? findOrCreateLabels(app, actor, subject, titles) : []

/** Null if the milestone is not visible from the project. */
const milestoneNamed = async (app: TransactionApp, subject: ProjectSubject, id: number | null | undefined) =>
  id ? findVisibleMilestone(app.db, subject, id) : null

/** Labels and milestone of a new item. */
export const plannedFor = async (app: TransactionApp, actor: User, subject: ProjectSubject, input: ItemInput) => ({
  labels: await labelsNamed(app, actor, subject, input.labels),
  milestone: await milestoneNamed(app, subject, input.milestone_id),
})

async function labelsAfter(
  app: TransactionApp,
  actor: User,
  subject: ProjectSubject,
  was: readonly Label[],
  { labels, add_labels, remove_labels }: ItemInput,
): Promise<readonly Label[]> {
  const base = labels ? await labelsNamed(app, actor, subject, labels) : was
  const added = await labelsNamed(app, actor, subject, add_labels)
  const gone = new Set(remove_labels)
  return [...base, ...missingIn(base, added)].filter(({ title }) => !gone.has(title))
}

type Reopenable = 'opened' | 'closed'

/** The state that the input asks for. Only opened and closed items change between these two. */
export async function stateAfter<S extends ItemRow['state']>(
  app: TransactionApp,
  actor: User,
  subject: ProjectSubject,
  was: ItemState & { readonly state: S },
  input: ItemInput,
  readers: (ids: readonly number[]) => Promise<readonly User[]>,
): Promise<ItemState & { readonly state: S | Reopenable }> {
  const { title, description, discussion_locked, milestone_id, assignee_ids, state_event } = input
  const isFinal = was.state !== 'opened' && was.state !== 'closed'
  return {
    title: title?.trim() ?? was.title,
    description: description === undefined ? was.description : description,
    state: isFinal || !state_event ? was.state : state_event === 'close' ? 'closed' : 'opened',
    discussion_locked: discussion_locked === undefined ? was.discussion_locked : discussion_locked,
    milestone: milestone_id === undefined ? was.milestone : await milestoneNamed(app, subject, milestone_id),
    labels: await labelsAfter(app, actor, subject, was.labels, input),
    assignees: assignee_ids ? await readers(assignee_ids) : was.assignees,
  }
}

/** The columns of all items after a change. */
export const columnsAfter = <S extends ItemState>(was: ItemState, is: S, by: number, now: string) => ({
  title: is.title,
  description: is.description,
  state: is.state as S['state'],
  discussion_locked: is.discussion_locked,
  milestone_id: is.milestone?.id ?? null,
  ...(was.state === 'opened' && is.state === 'closed' && { closed_at: now, closed_by_id: by }),
  ...(was.state === 'closed' && is.state === 'opened' && { closed_at: null, closed_by_id: null }),
  ...(is.description !== was.description && tasksOf(is.description)),
  ...editedBy(was, is, by, now),
  updated_by_id: by,
  updated_at: now,
})

/** Creates to-do items of newly linked users. */
async function addWaiting(app: TransactionApp, actor: User, kind: ItemKind, item: ItemRow, was: Linked, is: Linked) {
  const target = targetOfItem(kind, item)
  await addAssignedTodos(app, actor, target, missingIn(was.assignees, is.assignees))
  await addAssignedTodos(app, actor, target, missingIn(was.reviewers ?? [], is.reviewers ?? []), 'review_requested')
}

/** Links, to-do items, activity and event of a new item. */
export async function recordCreation(
  app: TransactionApp,
  actor: User,
  kind: ItemKind,
  item: ItemRow,
  plan: Linked & { readonly milestone: Milestone | null },
): Promise<void> {
  const { id, project_id } = item
  await addLinks(app, kind, id, plan)
  const added = { labels: { added: plan.labels }, milestone: { added: plan.milestone } }
  await addResourceEvents(app, actor, columnsOfItem(kind, id), added)
  await addWaiting(app, actor, kind, item, { labels: [], assignees: [] }, plan)
  await recordItem(app, actor.id, kind, item, 'created')
  const isPlain = !mayRefer(item.title) && !mayRefer(item.description ?? '')
  await emit(app, `${kind.key}.created` as const, { id, project_id, by: actor.id, ...(isPlain && { plain: true }) })
}

/** A change of one of these fields marks the actor's to-do items as done. */
const FINISHING = ['title', 'description', 'state', 'assignee_ids', 'reviewer_ids', 'label_ids', 'milestone_id']

export interface Update {
  /** The rows. */
  readonly before: ItemRow
  readonly after: ItemRow
  readonly was: ItemState
  readonly is: ItemState
  readonly changes: ItemChanges
  readonly notes: readonly SystemNote[]
}

/** Links, notes, to-do items, activity and events of an update. */
export async function recordUpdate(app: TransactionApp, actor: User, kind: ItemKind, update: Update): Promise<void> {
  const { before, after, was, is, changes, notes } = update
  const { id, project_id } = after
  await replaceLinks(app, kind, id, was, is)
  await addSystemNotes(app, actor, targetOfItem(kind, after), notes)
  const action = was.state === is.state ? null : is.state === 'closed' ? 'closed' : 'reopened'
  await addResourceEvents(app, actor, columnsOfItem(kind, id), {
    labels: { added: missingIn(was.labels, is.labels), removed: missingIn(is.labels, was.labels) },
    ...(was.milestone?.id !== is.milestone?.id && { milestone: { added: is.milestone, removed: was.milestone } }),
    ...(action && { state: action }),
    itemState: is.state,
  })
  const event = { id, project_id, by: actor.id }
  const all = { ...changes, ...timestampChanges(before, after) }
  await emit(app, `${kind.key}.updated` as const, { ...event, changes: all })
  if (FINISHING.some((field) => changes[field])) await finishTodos(app, actor.id, columnsOfItem(kind, id))
  await addWaiting(app, actor, kind, after, was, is)
  if (!action) return
  await recordItem(app, actor.id, kind, after, action)
  await emit(app, `${kind.key}.${action}` as const, event)
}
