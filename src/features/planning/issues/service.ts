import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { conflict, invalid, notFound } from '../../../errors.ts'
import { Owner, Reporter } from '../../../lib/levels.ts'
import { taskCompletion } from '../../../lib/text/tasks.ts'
import { isOrphan, locksRows, uniqueViolation } from '../../../store/dialect.ts'
import { drain } from '../../../store/draining.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { withUsers } from '../../identity/users/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { recordIssue, reserveActivities } from '../events/service.ts'
import { nextIid, raiseIid, transactNumbered } from '../iids.ts'
import type { Label } from '../labels/model.ts'
import { labelsOf } from '../labels/queries.ts'
import { findOrCreateLabels } from '../labels/service.ts'
import { findVisibleMilestone, milestonesOf } from '../milestones/queries.ts'
import { addSystemNotes } from '../notes/system.ts'
import { addResourceEvents } from '../resource-events/service.ts'
import { editedBy, timestampChanges } from '../timestamps.ts'
import { addAssignedTodos, finishTodos } from '../todos/service.ts'
import { notesOn, type IssueState, type Via } from './changes.ts'
import { assertBelowLimit } from './limits.ts'
import type { Issue, IssueChanges, IssueType, Severity } from './model.ts'
import { issueReaders, readersAmong } from './people.ts'
import { assigneesOf } from './queries.ts'

export interface IssueInput {
  title?: string | undefined
  description?: string | null | undefined
  confidential?: boolean | undefined
  issue_type?: IssueType | undefined
  discussion_locked?: boolean | null | undefined
  state_event?: 'close' | 'reopen' | undefined
  assignee_ids?: readonly number[] | undefined
  milestone_id?: number | null | undefined
  labels?: readonly string[] | undefined
  add_labels?: readonly string[] | undefined
  remove_labels?: readonly string[] | undefined
  due_date?: string | null | undefined
  weight?: number | null | undefined
  severity?: Severity | undefined
  /** Only for owners of the project. */
  created_at?: string | undefined
  updated_at?: string | undefined
  iid?: number | undefined
}

/** The origin of a request. */
export interface Sender {
  readonly userAgent: string
  readonly address: string
}

const LONGEST_TITLE = 255
export const LONGEST_DESCRIPTION = 1_048_576
const LARGEST_WEIGHT = 2_147_483_647

function assertValid({ title, description, weight }: IssueInput): void {
  const tooLong = (most: number) => [`is too long (maximum is ${most} characters)`]
  if (title !== undefined && title.trim() === '') throw invalid({ title: ["can't be blank"] })
  if (title !== undefined && Array.from(title.trim()).length > LONGEST_TITLE)
    throw invalid({ title: tooLong(LONGEST_TITLE) })
  if (description && description.length > LONGEST_DESCRIPTION)
    throw invalid({ description: tooLong(LONGEST_DESCRIPTION) })
  if (typeof weight === 'number' && weight < 0) throw invalid({ weight: ['must be greater than or equal to 0'] })
  if (typeof weight === 'number' && weight > LARGEST_WEIGHT)
    throw invalid({ weight: [`must be less than or equal to ${LARGEST_WEIGHT}`] })
}

/** Users below Reporter set only the content. Planning fields, and fields only for owners, are ignored for others. */
function permitted({ level }: ProjectSubject, input: IssueInput): IssueInput {
  if (level >= Owner) return input
  const { created_at: _created, updated_at: _updated, iid: _iid, ...planned } = input
  if (level >= Reporter) return planned
  const { title, description, confidential, state_event, issue_type } = input
  return { title, description, confidential, state_event, issue_type }
}

const tasksOf = (description: string | null) => {
  const { count, completed_count } = taskCompletion(description ?? '')
  return { tasks: count, tasks_completed: completed_count }
}

export async function createIssue(
  app: App,
  actor: User,
  subject: ProjectSubject,
  input: IssueInput & { title: string },
  sender?: Sender,
  settle?: (app: TransactionApp, issue: Issue) => Promise<void>,
): Promise<Issue> {
  assertValid(input)
  const { project } = subject
  const allowed = permitted(subject, input)
  const now = timestamp(app.clock)
  const description = input.description ?? null
  const created_at = allowed.created_at ?? now
  try {
    return await transactNumbered(app, { project_id: project.id }, 'issues', async (app) => {
      const labels = await labelsNamed(app, actor, subject, allowed.labels)
      const milestone = await milestoneWished(app, subject, allowed.milestone_id)
      const iid = allowed.iid ?? (await nextIid(app.db, { project_id: project.id }, 'issues'))
      await assertBelowLimit(app.db, project.id, allowed.iid === undefined ? iid : null)
      if (allowed.iid !== undefined) await raiseIid(app.db, { project_id: project.id }, 'issues', iid)
      const issue = await app.db
        .insertInto('issues')
        .values({
          project_id: project.id,
          iid,
          author_id: actor.id,
          title: input.title.trim(),
          description,
          confidential: input.confidential ?? false,
          issue_type: input.issue_type ?? 'issue',
          discussion_locked: null,
          milestone_id: milestone?.id ?? null,
          due_date: allowed.due_date ?? null,
          weight: allowed.weight ?? null,
          relative_position: null,
          closed_at: null,
          closed_by_id: null,
          moved_to_id: null,
          duplicated_to_id: null,
          created_at,
          updated_at: allowed.updated_at ?? created_at,
          ...tasksOf(description),
        })
        .returningAll()
        .executeTakeFirstOrThrow()
      const assignees = await readersAmong(app, subject, allowed.assignee_ids ?? [], issue)
      await assign(app, issue.id, assignees)
      await label(app, issue.id, labels)
      if (sender) await rememberSender(app, issue.id, sender)
      await addResourceEvents(
        app,
        actor,
        { issue_id: issue.id },
        { labels: { added: labels }, milestone: { added: milestone } },
      )
      await addAssignedTodos(app, actor, { project_id: issue.project_id, issue_id: issue.id }, assignees)
      await recordIssue(app, actor.id, issue, 'created')
      await settle?.(app, issue)
      await emit(app, 'issue.created', { id: issue.id, project_id: issue.project_id, by: actor.id })
      return issue
    })
  } catch (error) {
    if (uniqueViolation(error) === 'issues_project_id_iid_unique') throw conflict('Duplicated issue')
    if (isOrphan(error)) throw notFound('Project') // deleted meanwhile
    throw error
  }
}

const labelsNamed = async (app: App, actor: User, subject: ProjectSubject, titles: readonly string[] | undefined) =>
  titles && titles.length > 0 ? findOrCreateLabels(app, actor, subject, titles) : []

/** Null if the milestone is not visible from the project. */
const milestoneWished = async (app: App, subject: ProjectSubject, id: number | null | undefined) =>
  id ? findVisibleMilestone(app.db, subject, id) : null

export async function assign({ db }: App, issue: number, users: readonly User[]): Promise<void> {
  if (users.length === 0) return
  await db
    .insertInto('issue_assignees')
    .values(users.map(({ id }) => ({ issue_id: issue, user_id: id })))
    .execute()
}

export async function label({ db }: App, issue: number, labels: readonly Label[]): Promise<void> {
  if (labels.length === 0) return
  await db
    .insertInto('issue_labels')
    .values(labels.map(({ id }) => ({ issue_id: issue, label_id: id })))
    .execute()
}

async function rememberSender({ db, clock }: App, issue: number, { userAgent, address }: Sender): Promise<void> {
  await db
    .insertInto('user_agent_details')
    .values({ issue_id: issue, user_agent: userAgent, ip_address: address, created_at: timestamp(clock) })
    .execute()
}

/** Locks the row until the transaction ends, and returns its current state. */
export async function lockIssue({ db }: TransactionApp, id: number): Promise<Issue> {
  const issue = await db
    .selectFrom('issues')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  if (!issue) throw notFound() // deleted by another request meanwhile
  return issue
}

async function stateOf({ db }: App, issue: Issue): Promise<IssueState> {
  const [labels, milestones, assigned] = await Promise.all([
    labelsOf(db, [issue.id]),
    milestonesOf(db, [issue.milestone_id]),
    assigneesOf(db, [issue.id]),
  ])
  const people = await withUsers(
    db,
    (assigned.get(issue.id) ?? []).map((user_id) => ({ user_id })),
    { user: 'user_id' },
  )
  return {
    ...issue,
    labels: labels.get(issue.id) ?? [],
    milestone: milestones.get(issue.milestone_id ?? 0) ?? null,
    assignees: people.map(({ user }) => user),
  }
}

/** A change of one of these fields marks the actor's to-do items as done. */
const FINISHING = ['title', 'description', 'state', 'assignee_ids', 'label_ids', 'milestone_id']

export async function updateIssue(
  app: App,
  actor: User,
  subject: ProjectSubject,
  id: number,
  given: IssueInput,
  via?: Via,
): Promise<Issue> {
  assertValid(given)
  const input = permitted(subject, given)
  return transact(app, async (app) => {
    const issue = await lockIssue(app, id)
    const was = await stateOf(app, issue)
    const is = await wished(app, actor, subject, issue, was, input)
    const changes = changesBetween(was, is)
    const issue_type = input.issue_type ?? issue.issue_type
    const isTouched =
      Object.keys(changes).length > 0 || input.created_at !== undefined || issue_type !== issue.issue_type
    if (!isTouched && input.updated_at === undefined) return issue
    const now = timestamp(app.clock)
    const isClosing = was.state === 'opened' && is.state === 'closed'
    const updated = await app.db
      .updateTable('issues')
      .set({
        title: is.title,
        description: is.description,
        confidential: is.confidential,
        issue_type,
        discussion_locked: is.discussion_locked,
        milestone_id: is.milestone?.id ?? null,
        due_date: is.due_date,
        weight: is.weight,
        severity: is.severity,
        state: is.state,
        ...(isClosing && { closed_at: now, closed_by_id: actor.id }),
        ...(was.state === 'closed' && is.state === 'opened' && { closed_at: null, closed_by_id: null }),
        ...(is.description !== was.description && tasksOf(is.description)),
        ...(input.created_at && { created_at: input.created_at }),
        ...editedBy(was, is, actor.id, now),
        updated_by_id: actor.id,
        updated_at: input.updated_at ?? now,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
    await replaceLinks(app, id, was, is)
    await addSystemNotes(app, actor, { project_id: issue.project_id, issue_id: id }, notesOn(was, is, via))
    await addResourceEvents(
      app,
      actor,
      { issue_id: id },
      {
        labels: { added: missingIn(was.labels, is.labels), removed: missingIn(is.labels, was.labels) },
        ...(was.milestone?.id !== is.milestone?.id && { milestone: { added: is.milestone, removed: was.milestone } }),
        ...(was.state !== is.state && { state: is.state === 'closed' ? ('closed' as const) : ('reopened' as const) }),
        itemState: is.state,
      },
    )
    const event = { id, project_id: updated.project_id, by: actor.id }
    await emit(app, 'issue.updated', { ...event, changes: { ...changes, ...timestampChanges(issue, updated) } })
    if (FINISHING.some((field) => changes[field])) await finishTodos(app, actor.id, { issue_id: id })
    const target = { project_id: updated.project_id, issue_id: id }
    await addAssignedTodos(app, actor, target, missingIn(was.assignees, is.assignees))
    if (changes['confidential']) await reserveActivities(app, updated)
    if (was.state !== is.state) {
      await recordIssue(app, actor.id, updated, isClosing ? 'closed' : 'reopened')
      await emit(app, isClosing ? 'issue.closed' : 'issue.reopened', event)
    }
    return updated
  })
}

/** Items of `some` that are not in `known`. */
const missingIn = <T extends { readonly id: number }>(known: readonly T[], some: readonly T[]): T[] =>
  some.filter(({ id }) => !known.some((one) => one.id === id))

async function wished(
  app: App,
  actor: User,
  subject: ProjectSubject,
  issue: Issue,
  was: IssueState,
  input: IssueInput,
): Promise<IssueState> {
  const { title, description, confidential, discussion_locked, due_date, weight, state_event } = input
  return {
    title: title?.trim() ?? was.title,
    description: description === undefined ? was.description : description,
    confidential: confidential ?? was.confidential,
    discussion_locked: discussion_locked === undefined ? was.discussion_locked : discussion_locked,
    due_date: due_date === undefined ? was.due_date : due_date,
    weight: weight === undefined ? was.weight : weight,
    severity: input.severity ?? was.severity,
    state: state_event ? (state_event === 'close' ? 'closed' : 'opened') : was.state,
    milestone:
      input.milestone_id === undefined ? was.milestone : await milestoneWished(app, subject, input.milestone_id),
    labels: await labelsWished(app, actor, subject, was.labels, input),
    // Current assignees can see the issue and stay.
    assignees: input.assignee_ids
      ? await issueReaders(app, subject, input.assignee_ids, {
          ...issue,
          confidential: confidential ?? was.confidential,
        })
      : was.assignees,
  }
}

async function labelsWished(
  app: App,
  actor: User,
  subject: ProjectSubject,
  was: readonly Label[],
  { labels, add_labels, remove_labels }: IssueInput,
): Promise<readonly Label[]> {
  const base = labels ? await labelsNamed(app, actor, subject, labels) : was
  const added = await labelsNamed(app, actor, subject, add_labels)
  const gone = new Set(remove_labels)
  return [...base, ...missingIn(base, added)].filter(({ title }) => !gone.has(title))
}

function changesBetween(was: IssueState, is: IssueState): IssueChanges {
  const plain = [
    'title',
    'description',
    'state',
    'confidential',
    'discussion_locked',
    'due_date',
    'weight',
    'severity',
  ] as const
  const changes: IssueChanges = {}
  for (const field of plain) if (was[field] !== is[field]) changes[field] = [was[field], is[field]]
  const ids = (some: readonly { readonly id: number }[]) => some.map(({ id }) => id).toSorted((a, b) => a - b)
  for (const [field, name] of [
    ['labels', 'label_ids'],
    ['assignees', 'assignee_ids'],
  ] as const) {
    const [before, after] = [ids(was[field]), ids(is[field])]
    if (before.join() !== after.join()) changes[name] = [before, after]
  }
  const [before, after] = [was.milestone?.id ?? null, is.milestone?.id ?? null]
  if (before !== after) changes['milestone_id'] = [before, after]
  return changes
}

async function replaceLinks(app: App, issue: number, was: IssueState, is: IssueState): Promise<void> {
  const { db } = app
  const unassigned = missingIn(is.assignees, was.assignees).map(({ id }) => id)
  if (unassigned.length > 0) {
    await db.deleteFrom('issue_assignees').where('issue_id', '=', issue).where('user_id', 'in', unassigned).execute()
  }
  await assign(app, issue, missingIn(was.assignees, is.assignees))
  const unlabelled = missingIn(is.labels, was.labels).map(({ id }) => id)
  if (unlabelled.length > 0) {
    await db.deleteFrom('issue_labels').where('issue_id', '=', issue).where('label_id', 'in', unlabelled).execute()
  }
  await label(app, issue, missingIn(was.labels, is.labels))
}

export async function deleteIssue(app: App, actor: User, { id, project_id, iid, title }: Issue): Promise<void> {
  await drain(app, 'issues', id)
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('issues').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Issue') // deleted by another request meanwhile
    await emit(app, 'issue.deleted', { id, project_id, iid, title, by: actor.id })
  })
}

/** Writes estimate and time spent, in the transaction that emits the event. */
export async function storeTimes(
  { db, clock }: App,
  id: number,
  times: Pick<Issue, 'time_estimate' | 'total_time_spent'>,
  by: number,
): Promise<Issue> {
  return db
    .updateTable('issues')
    .set({ ...times, updated_by_id: by, updated_at: timestamp(clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Updates the timestamp after a related change, in the transaction of that change. */
export async function touchIssue({ db, clock }: App, id: number): Promise<void> {
  await db
    .updateTable('issues')
    .set({ updated_at: timestamp(clock) })
    .where('id', '=', id)
    .execute()
}
