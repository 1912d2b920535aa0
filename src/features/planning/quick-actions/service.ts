/**
 * Runs the quick actions of a text. An action whose condition fails does nothing. All others use the same services as
 * the API.
 */
import { today } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { loadEmoji, type FindEmoji } from '../../../lib/text/emoji.ts'
import { parseNaturalDate } from './natural-date.ts'
import { splitQuickActions, type QuickAction } from '../../../lib/text/quick-actions.ts'
import { transact } from '../../../store/transact.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { boardsOf, listsOf } from '../boards/queries.ts'
import { linkIssues } from '../issue-links/service.ts'
import { severityName } from '../issues/changes.ts'
import { markDuplicate } from '../issues/duplicate.ts'
import { SEVERITIES, type Issue, type Severity } from '../issues/model.ts'
import { cloneIssue, moveIssue } from '../issues/move.ts'
import { issueRules } from '../issues/rules.ts'
import { itemReaders } from '../items/readers.ts'
import { issuePolicy, type IssueSubject } from '../issues/policy.ts'
import { findIssues } from '../issues/queries.ts'
import { createIssue, updateIssue, type IssueInput, type Sender } from '../issues/service.ts'
import { issueKind } from '../issues/kind.ts'
import type { Obeyed } from '../notes/noteable.ts'
import { branchFrom, branchNameOf, mayBranch, tagCommit, tagOrder } from './code.ts'
import { issuesIn, labelsIn, nameFrom, findNamedProject } from './arguments.ts'
import { carryOut, outcomeOf, unlessRefused, type Handlers, type Order, type CommandContext } from './orders.ts'
import { idsOf, plannedBy, sharedHandlers, tildes, titlesOf, type ActionKind } from './shared.ts'

type Context = CommandContext<IssueSubject, IssueInput>

const KIND: ActionKind<IssueSubject> = {
  ...issueKind,
  row: ({ issue }) => issue,
  plans: issuePolicy.plan,
  readers: (app, { issue, ...scope }, ids) => itemReaders(app, issueRules, scope, ids, issue),
  copied: ['issue'],
}

const planned = plannedBy(KIND)<IssueInput>

const HANDLERS: Handlers<IssueSubject, IssueInput> = {
  ...sharedHandlers(KIND),
  board_move: async ({ app, subject, input, argument }) => {
    const labels = await labelsIn(app, subject, argument)
    const boards = await boardsOf(app.db, subject).limit(2).execute()
    if (!issuePolicy.plan(subject) || labels.length !== 1 || boards.length !== 1) return null
    const lists = (await listsOf(app.db, idsOf(boards))).get(boards[0]!.id) ?? []
    if (!lists.some(({ label_id }) => label_id === labels[0]!.id)) return null
    const others = lists.map(({ label }) => label).filter(({ id }) => id !== labels[0]!.id)
    return {
      input: {
        add_labels: [...(input.add_labels ?? []), ...titlesOf(labels)],
        remove_labels: [...(input.remove_labels ?? []), ...titlesOf(others)],
      },
      changes: { add_label_ids: idsOf(labels), remove_label_ids: idsOf(others) },
      summary: `Moved issue to ${tildes(labels)[0]} column in the board.`,
    }
  },
  due: planned(({ app, argument }) => {
    const due_date = parseNaturalDate(argument, today(app.clock))
    if (due_date === null) return null
    return { input: { due_date }, changes: { due_date }, summary: `Set the due date to ${due_date}.` }
  }),
  remove_due_date: planned(({ subject }) =>
    subject.issue.due_date === null
      ? null
      : { input: { due_date: null }, changes: { due_date: null }, summary: 'Removed the due date.' },
  ),
  confidential: ({ subject }) =>
    subject.issue.confidential
      ? null
      : { input: { confidential: true }, changes: { confidential: true }, summary: 'Made this issue confidential.' },
  weight: planned(({ argument }) => {
    if (!/^\d{1,9}$/.test(argument)) return null
    const weight = Number(argument)
    return { input: { weight }, changes: { weight }, summary: `Set weight to ${weight}.` }
  }),
  clear_weight: planned(({ subject }) =>
    subject.issue.weight === null
      ? null
      : { input: { weight: null }, changes: { weight: null }, summary: 'Cleared weight.' },
  ),
  severity: planned(({ subject, argument }) => {
    const severity = severityNamed(argument)
    if (!severity || subject.issue.issue_type !== 'incident' || severity === subject.issue.severity) return null
    return { input: { severity }, changes: { severity }, summary: `Set the severity to ${severityName(severity)}.` }
  }),
  create_merge_request: ({ app, actor, subject, argument }) => {
    const branch = argument || branchNameOf(subject.issue)
    if (!mayBranch(app, subject, branch)) return null
    return {
      after: (app) => branchFrom(app, actor, subject, branch),
      changes: { create_merge_request: { branch_name: branch, issue_iid: subject.issue.iid } },
      summary: `Created branch '${branch}' to resolve this issue.`,
    }
  },
  relate: planned(async ({ app, actor, subject, argument }) => {
    const others = await issuesIn(app, actor, subject, argument)
    if (others.length === 0) return null
    return {
      work: async (app) => {
        const done: boolean[] = []
        for (const other of others) done.push(await unlessRefused(linkIssues(app, actor, subject, other, 'relates_to')))
        return done.includes(true)
      },
      changes: { relate: others.map((other) => other.issue.id) },
      summary: `Marked this issue as related to ${others.map((other) => nameFrom(subject, other)).join(', ')}.`,
    }
  }),
  duplicate: async ({ app, actor, subject, argument }) => {
    const [original] = await issuesIn(app, actor, subject, argument)
    if (!original || original.issue.id === subject.issue.id || !issuePolicy.participate(original)) return null
    return {
      work: (app) => markDuplicate(app, actor, subject, original),
      changes: { canonical_issue_id: original.issue.id },
      summary: `Closed this issue. Marked as a duplicate of ${nameFrom(subject, original)}.`,
    }
  },
  move: (context) => going(context, 'Moved', (app, to) => moveIssue(app, context.actor, context.subject, to)),
  clone: (context) =>
    going(context, 'Cloned', (app, to) => cloneIssue(app, context.actor, context.subject, to, { withNotes: false })),
}

/** `S2` or `high`. */
function severityNamed(argument: string): Severity | undefined {
  const [, number] = /^s([1-4])$/i.exec(argument) ?? []
  return number ? SEVERITIES[Number(number) - 1] : SEVERITIES.find((name) => name === argument.toLowerCase())
}

async function going(
  { app, actor, subject, argument }: Context,
  verb: string,
  go: (app: App, to: number) => Promise<Issue>,
): Promise<Order<IssueInput> | null> {
  const target = argument === '' ? null : await findNamedProject(app, actor, subject, argument)
  if (!target || !projectPolicy.read(target)) return null
  const path = pathWithNamespace(target.project, target.namespace)
  return {
    last: (app) => unlessRefused(go(app, target.project.id)),
    changes: { target_project_id: target.project.id },
    summary: `${verb} this issue to ${path}.`,
  }
}

export async function obey(
  app: TransactionApp,
  actor: User,
  subject: IssueSubject,
  commands: readonly QuickAction[],
  emoji: FindEmoji,
): Promise<Obeyed> {
  const update = (app: App, input: IssueInput) => updateIssue(app, actor, subject, subject.issue.id, input)
  return carryOut(app, actor, { handlers: HANDLERS, subject, emoji, update }, commands)
}

/** The quick actions of a note on a commit: only `/tag`. */
export function obeyOnCommit(
  actor: User,
  subject: RepositorySubject,
  sha: string,
  commands: readonly QuickAction[],
): Obeyed {
  const [tag] = commands.flatMap(({ name, argument }) => (name === 'tag' ? (tagOrder(argument) ?? []) : []))
  if (!tag) return outcomeOf([])
  const { name, message } = tag
  const order = {
    changes: { tag_name: name, tag_message: message },
    summary: `Tagged this commit to ${name}${message === '' ? '' : ` with "${message}"`}.`,
    after: (app: App) => tagCommit(app, actor, subject, sha, tag),
  }
  return outcomeOf([order])
}

/** Creates an issue and runs the quick actions of its description. */
export async function createIssueWithCommands(
  app: App,
  actor: User,
  subject: ProjectSubject,
  input: IssueInput & { title: string },
  sender: Sender,
  settle?: (app: TransactionApp, issue: Issue) => Promise<void>,
): Promise<Issue> {
  if (typeof input.description !== 'string') return createIssue(app, actor, subject, input, sender, settle)
  const { text, commands } = splitQuickActions(input.description)
  const emoji = await loadEmoji()
  const { issue, obeyed } = await transact(app, async (app) => {
    const issue = await createIssue(app, actor, subject, { ...input, description: text }, sender, settle)
    if (commands.length === 0) return { issue, obeyed: null }
    const obeyed = await obey(app, actor, { ...subject, issue: { ...issue, assigned: false } }, commands, emoji)
    return { issue: (await findIssues(app.db, [issue.id]))[0]!, obeyed }
  })
  await obeyed?.after?.(app)
  return issue
}
