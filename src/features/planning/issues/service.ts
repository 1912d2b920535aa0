import { assertRules, rulesOf, upTo } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { conflict, notFound } from '../../../errors.ts'
import { Owner, Reporter } from '../../../lib/levels.ts'
import { drain } from '../../../store/draining.ts'
import { hotInsert, hotUpdate } from '../../../store/hot.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessOrphan, unlessTaken } from '../../../store/violations.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { moveToBin } from '../bin/service.ts'
import { reserveActivities } from '../events/service.ts'
import { nextIid, raiseIid, transactNumbered } from '../iids.ts'
import { changesBetween, type Via } from '../items/changes.ts'
import { itemReaders } from '../items/readers.ts'
import { lockItem, tasksOf, touchItem } from '../items/rows.ts'
import {
  columnsAfter,
  itemTexts,
  plannedFor,
  recordCreation,
  recordUpdate,
  stateAfter,
  stateOf,
  type ItemInput,
} from '../items/service.ts'
import { issueBin } from './bin.ts'
import { ISSUE_FIELDS, issueNotes, type IssueState } from './changes.ts'
import { issueKind } from './kind.ts'
import { assertIssueAllowed } from './limits.ts'
import type { Issue, IssueType, Severity } from './model.ts'
import { issueRules } from './rules.ts'

export interface IssueInput extends ItemInput {
  confidential?: boolean | undefined
  issue_type?: IssueType | undefined
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

const inputRules = rulesOf({ ...itemTexts, weight: upTo(2_147_483_647) })

/** Users below Reporter set only the content. Planning fields, and fields only for owners, are ignored for others. */
function permitted({ level }: ProjectSubject, input: IssueInput): IssueInput {
  if (level >= Owner) return input
  const { created_at: _created, updated_at: _updated, iid: _iid, ...planned } = input
  if (level >= Reporter) return planned
  const { title, description, confidential, state_event, issue_type } = input
  return { title, description, confidential, state_event, issue_type }
}

const insertIssues = hotInsert('issues', [
  'project_id',
  'iid',
  'author_id',
  'title',
  'description',
  'confidential',
  'issue_type',
  'milestone_id',
  'due_date',
  'weight',
  'tasks',
  'tasks_completed',
  'created_at',
  'updated_at',
])
const insertSenders = hotInsert('user_agent_details', ['issue_id', 'user_agent', 'ip_address', 'created_at'])
const changeIssue = hotUpdate('issues')

export async function createIssue(
  app: App,
  actor: User,
  subject: ProjectSubject,
  input: IssueInput & { title: string },
  sender?: Sender,
  settle?: (app: TransactionApp, issue: Issue) => Promise<void>,
): Promise<Issue> {
  assertRules(inputRules, input)
  const { project } = subject
  const allowed = permitted(subject, input)
  const now = timestamp(app.clock)
  const description = input.description ?? null
  const created_at = allowed.created_at ?? now
  const created = transactNumbered(app, { project_id: project.id }, 'issues', async (app) => {
    const { labels, milestone } = await plannedFor(app, actor, subject, allowed)
    const iid = allowed.iid ?? (await nextIid(app.db, { project_id: project.id }, 'issues'))
    await assertIssueAllowed(app.db, project.id, allowed.iid === undefined ? iid : null)
    if (allowed.iid !== undefined) await raiseIid(app.db, { project_id: project.id }, 'issues', iid)
    const [inserted] = await insertIssues(app.db, [
      {
        project_id: project.id,
        iid,
        author_id: actor.id,
        title: input.title.trim(),
        description,
        confidential: input.confidential ?? false,
        issue_type: input.issue_type ?? 'issue',
        milestone_id: milestone?.id ?? null,
        due_date: allowed.due_date ?? null,
        weight: allowed.weight ?? null,
        created_at,
        updated_at: allowed.updated_at ?? created_at,
        ...tasksOf(description),
      },
    ])
    const issue = inserted!
    const assignees = await itemReaders(app, issueRules, subject, allowed.assignee_ids ?? [], issue)
    if (sender) await rememberSender(app, issue.id, sender)
    await settle?.(app, issue)
    await recordCreation(app, actor, issueKind, issue, { labels, milestone, assignees })
    return issue
  })
  const isNew = unlessTaken(created, 'issues', [['project_id', 'iid']], () => conflict('Duplicated issue'))
  return unlessOrphan(isNew, () => notFound('Project'))
}

async function rememberSender({ db, clock }: App, issue: number, { userAgent, address }: Sender): Promise<void> {
  await insertSenders(db, [
    { issue_id: issue, user_agent: userAgent, ip_address: address, created_at: timestamp(clock) },
  ])
}

export const lockIssue = (app: TransactionApp, id: number): Promise<Issue> => lockItem(app, issueKind, id)
export const touchIssue = (app: TransactionApp, id: number): Promise<void> => touchItem(app, issueKind, id)

export async function updateIssue(
  app: App,
  actor: User,
  subject: ProjectSubject,
  id: number,
  given: IssueInput,
  via?: Via,
): Promise<Issue> {
  assertRules(inputRules, given)
  const input = permitted(subject, given)
  return transact(app, async (app) => {
    const issue = await lockIssue(app, id)
    const was = await stateOf(app, issueKind, issue)
    const is = await nextState(app, actor, subject, was, input)
    const changes = changesBetween(was, is, ISSUE_FIELDS)
    const issue_type = input.issue_type ?? issue.issue_type
    const isTouched =
      Object.keys(changes).length > 0 || input.created_at !== undefined || issue_type !== issue.issue_type
    if (!isTouched && input.updated_at === undefined) return issue
    const updated = (await changeIssue(app.db, id, {
      ...columnsAfter(was, is, actor.id, timestamp(app.clock)),
      confidential: is.confidential,
      issue_type,
      due_date: is.due_date,
      weight: is.weight,
      severity: is.severity,
      ...(input.created_at && { created_at: input.created_at }),
      ...(input.updated_at && { updated_at: input.updated_at }),
    }))!
    const notes = issueNotes(was, is, via)
    await recordUpdate(app, actor, issueKind, { before: issue, after: updated, was, is, changes, notes })
    if (changes['confidential']) await reserveActivities(app, updated)
    return updated
  })
}

async function nextState(
  app: TransactionApp,
  actor: User,
  subject: ProjectSubject,
  was: Issue & IssueState,
  input: IssueInput,
): Promise<IssueState> {
  const { due_date, weight } = input
  const confidential = input.confidential ?? was.confidential
  // Current assignees can see the issue and stay.
  const readers = (ids: readonly number[]) => itemReaders(app, issueRules, subject, ids, { ...was, confidential })
  return {
    ...(await stateAfter(app, actor, subject, was, input, readers)),
    confidential,
    due_date: due_date === undefined ? was.due_date : due_date,
    weight: weight === undefined ? was.weight : weight,
    severity: input.severity ?? was.severity,
  }
}

export async function deleteIssue(app: App, actor: User, issue: Issue): Promise<void> {
  if (!(await moveToBin(app, issueBin, issue, actor))) await deleteAtOnce(app, actor, issue)
}

async function deleteAtOnce(app: App, actor: User, { id, project_id, iid, title }: Issue): Promise<void> {
  await drain(app, 'issues', id)
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('issues').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Issue') // deleted by another request meanwhile
    await emit(app, 'issue.deleted', { id, project_id, iid, title, by: actor.id })
  })
}
