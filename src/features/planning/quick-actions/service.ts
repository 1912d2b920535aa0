/**
 * What the lines of a text order, carried out. A command whose condition fails does nothing; what can be done goes
 * through the services that the API itself calls.
 */
import { today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { formatDuration, parseDuration } from '../../../lib/duration.ts'
import { loadEmoji, type FindEmoji } from '../../../lib/emoji.ts'
import { parseNaturalDate } from '../../../lib/natural-date.ts'
import { splitQuickActions, type QuickAction, type QuickActionName } from '../../../lib/quick-actions.ts'
import { transact } from '../../../store/transact.ts'
import { projectPolicy, type ProjectSubject } from '../../projects/projects/policy.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { toggleAward } from '../award-emoji/service.ts'
import { boardsOf, listsOf } from '../boards/queries.ts'
import { linkIssues } from '../issue-links/service.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { severityName } from '../issues/changes.ts'
import { markDuplicate } from '../issues/duplicate.ts'
import { SEVERITIES, type Issue, type Severity } from '../issues/model.ts'
import { cloneIssue, moveIssue } from '../issues/move.ts'
import { isParticipant } from '../issues/participants.ts'
import { issuePolicy, type IssueSubject } from '../issues/policy.ts'
import { assigneesOf, findIssues } from '../issues/queries.ts'
import { createIssue, updateIssue, type IssueWish, type Sender } from '../issues/service.ts'
import type { Label } from '../labels/model.ts'
import { labelsOf } from '../labels/queries.ts'
import { milestonesOf } from '../milestones/queries.ts'
import type { Obeyed } from '../notes/talk.ts'
import { setSubscription } from '../subscriptions/service.ts'
import { estimate, resetEstimate, resetSpent, spend } from '../time-tracking/service.ts'
import { branchFrom, branchNameOf, mayBranch, tagCommit, tagOrder } from './code.ts'
import { issuesIn, labelsIn, milestoneIn, nameFrom, peopleIn, projectNamed } from './named.ts'
import { finishTodos, remind } from '../todos/service.ts'

/** More of one text are not carried out. */
const MOST_COMMANDS = 50

type Changes = Record<string, unknown>
type Work = (app: App) => Promise<unknown>

/** What a command comes to. */
interface Order {
  /** Of the issue, all of them at once. */
  readonly wish?: IssueWish
  /** What else is to do, in the order of the commands. */
  readonly work?: Work
  /** The same, when all else is done: the issue goes away. */
  readonly last?: Work
  /** The same, once the transaction has ended; refused, the command has done nothing. */
  readonly after?: Work
  readonly changes: Changes
  readonly summary: string
}

interface Place {
  readonly app: App
  readonly actor: User
  readonly subject: IssueSubject
  /** As the commands before it leave it. */
  readonly wish: IssueWish
  readonly emoji: FindEmoji
  readonly argument: string
}

type Handler = (place: Place) => Promise<Order | null> | Order | null

const plans = ({ subject }: Place) => issuePolicy.plan(subject)
const tildes = (labels: readonly Label[]) => labels.map(({ title }) => (/\s/.test(title) ? `~"${title}"` : `~${title}`))
const labelWords = (labels: readonly Label[]) =>
  `${tildes(labels).join(' ')} ${labels.length === 1 ? 'label' : 'labels'}`
const titlesOf = (labels: readonly Label[]) => labels.map(({ title }) => title)
const idsOf = (some: readonly { readonly id: number }[]) => some.map(({ id }) => id)
const namesOf = (users: readonly User[]) => users.map(({ username }) => `@${username}`).join(' and ')

/** For those who plan. */
const planned =
  (handler: Handler): Handler =>
  (place) =>
    plans(place) ? handler(place) : null

const HANDLERS: Partial<Record<QuickActionName, Handler>> = {
  close: ({ subject }) =>
    subject.issue.state === 'opened'
      ? { wish: { state_event: 'close' }, changes: { state_event: 'close' }, summary: 'Closed this issue.' }
      : null,
  reopen: ({ subject }) =>
    subject.issue.state === 'closed'
      ? { wish: { state_event: 'reopen' }, changes: { state_event: 'reopen' }, summary: 'Reopened this issue.' }
      : null,
  title: ({ argument: title }) =>
    title !== '' && Array.from(title).length <= 255
      ? { wish: { title }, changes: { title }, summary: `Changed the title to "${title}".` }
      : null,
  assign: planned(async (place) => {
    const users = await peopleIn(place.app, place.actor, place.argument)
    if (users.length === 0) return null
    return assigning([...new Set([...(await assigned(place)), ...idsOf(users)])], `Assigned ${namesOf(users)}.`)
  }),
  reassign: planned(async ({ app, actor, argument }) => {
    const users = await peopleIn(app, actor, argument)
    return users.length === 0 ? null : assigning(idsOf(users), `Assigned ${namesOf(users)}.`)
  }),
  unassign: planned(async (place) => {
    const users = await peopleIn(place.app, place.actor, place.argument)
    const gone = new Set(idsOf(users))
    const before = await assigned(place)
    const left = place.argument === '' ? [] : before.filter((id) => !gone.has(id))
    if (left.length === before.length) return null
    return assigning(left, users.length === 0 ? 'Removed all assignees.' : `Removed assignee ${namesOf(users)}.`)
  }),
  milestone: planned(async ({ app, subject, argument }) => {
    const milestone = await milestoneIn(app, subject, argument)
    if (!milestone) return null
    const wish = { milestone_id: milestone.id }
    return { wish, changes: wish, summary: `Set the milestone to %"${milestone.title}".` }
  }),
  remove_milestone: planned(({ subject }) =>
    subject.issue.milestone_id === null
      ? null
      : { wish: { milestone_id: 0 }, changes: { milestone_id: null }, summary: 'Removed the milestone.' },
  ),
  label: planned(async ({ app, subject, wish, argument }) => {
    const labels = await labelsIn(app, subject, argument)
    if (labels.length === 0) return null
    const add_labels = [...(wish.add_labels ?? []), ...titlesOf(labels)]
    const remove_labels = wish.remove_labels?.filter((title) => !add_labels.includes(title))
    return {
      wish: { add_labels, ...(remove_labels && { remove_labels }) },
      changes: { add_label_ids: idsOf(labels) },
      summary: `Added ${labelWords(labels)}.`,
    }
  }),
  unlabel: planned(async ({ app, subject, wish, argument }) => {
    if (argument === '') {
      return {
        wish: { labels: [], add_labels: [], remove_labels: [] },
        changes: { label_ids: [] },
        summary: 'Removed all labels.',
      }
    }
    const labels = await labelsIn(app, subject, argument)
    if (labels.length === 0) return null
    const remove_labels = [...(wish.remove_labels ?? []), ...titlesOf(labels)]
    return {
      wish: { remove_labels },
      changes: { remove_label_ids: idsOf(labels) },
      summary: `Removed ${labelWords(labels)}.`,
    }
  }),
  relabel: planned(async ({ app, subject, argument }) => {
    const labels = await labelsIn(app, subject, argument)
    if (labels.length === 0) return null
    return {
      wish: { labels: titlesOf(labels), add_labels: [], remove_labels: [] },
      changes: { label_ids: idsOf(labels) },
      summary: `Replaced all labels with ${labelWords(labels)}.`,
    }
  }),
  board_move: async ({ app, subject, wish, argument }) => {
    const labels = await labelsIn(app, subject, argument)
    const boards = await boardsOf(app.db, subject).limit(2).execute()
    if (!issuePolicy.plan(subject) || labels.length !== 1 || boards.length !== 1) return null
    const lists = (await listsOf(app.db, idsOf(boards))).get(boards[0]!.id) ?? []
    if (!lists.some(({ label_id }) => label_id === labels[0]!.id)) return null
    const others = lists.map(({ label }) => label).filter(({ id }) => id !== labels[0]!.id)
    return {
      wish: {
        add_labels: [...(wish.add_labels ?? []), ...titlesOf(labels)],
        remove_labels: [...(wish.remove_labels ?? []), ...titlesOf(others)],
      },
      changes: { add_label_ids: idsOf(labels), remove_label_ids: idsOf(others) },
      summary: `Moved issue to ${tildes(labels)[0]} column in the board.`,
    }
  },
  copy_metadata: planned(async ({ app, actor, subject, argument }) => {
    const [source] = await issuesIn(app, actor, subject, argument)
    if (!source || source.project.id !== subject.project.id) return null
    const labels = (await labelsOf(app.db, [source.issue.id])).get(source.issue.id) ?? []
    const milestone = (await milestonesOf(app.db, [source.issue.milestone_id])).get(source.issue.milestone_id ?? 0)
    return {
      wish: { add_labels: titlesOf(labels), ...(milestone && { milestone_id: milestone.id }) },
      changes: { add_label_ids: idsOf(labels), ...(milestone && { milestone_id: milestone.id }) },
      summary: `Copied labels and milestone from ${nameFrom(subject, source)}.`,
    }
  }),
  due: planned(({ app, argument }) => {
    const due_date = parseNaturalDate(argument, today(app.clock))
    if (due_date === null) return null
    return { wish: { due_date }, changes: { due_date }, summary: `Set the due date to ${due_date}.` }
  }),
  remove_due_date: planned(({ subject }) =>
    subject.issue.due_date === null
      ? null
      : { wish: { due_date: null }, changes: { due_date: null }, summary: 'Removed the due date.' },
  ),
  confidential: ({ subject }) =>
    subject.issue.confidential
      ? null
      : { wish: { confidential: true }, changes: { confidential: true }, summary: 'Made this issue confidential.' },
  lock: planned(({ subject }) => (subject.issue.discussion_locked ? null : locking(true, 'Locked the discussion.'))),
  unlock: planned(({ subject }) =>
    subject.issue.discussion_locked ? locking(false, 'Unlocked the discussion.') : null,
  ),
  weight: planned(({ argument }) => {
    if (!/^\d{1,9}$/.test(argument)) return null
    const weight = Number(argument)
    return { wish: { weight }, changes: { weight }, summary: `Set weight to ${weight}.` }
  }),
  clear_weight: planned(({ subject }) =>
    subject.issue.weight === null
      ? null
      : { wish: { weight: null }, changes: { weight: null }, summary: 'Cleared weight.' },
  ),
  severity: planned(({ subject, argument }) => {
    const severity = severityNamed(argument)
    if (!severity || subject.issue.issue_type !== 'incident' || severity === subject.issue.severity) return null
    return { wish: { severity }, changes: { severity }, summary: `Set the severity to ${severityName(severity)}.` }
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
  estimate: planned(({ actor, subject, argument }) => {
    const seconds = parseDuration(argument)
    if (!isWork(seconds) || seconds < 0) return null
    const work: Work = (app) => estimate(app, actor, subject.issue, argument)
    return { work, changes: { time_estimate: seconds }, summary: `Set time estimate to ${formatDuration(seconds)}.` }
  }),
  remove_estimate: planned(({ actor, subject }) => ({
    work: (app) => resetEstimate(app, actor, subject.issue),
    changes: { time_estimate: 0 },
    summary: 'Removed time estimate.',
  })),
  spend: planned(({ actor, subject, argument }) => {
    const seconds = parseDuration(argument)
    if (!isWork(seconds) || seconds === 0 || subject.issue.total_time_spent + seconds < 0) return null
    const words = seconds > 0 ? `Added ${formatDuration(seconds)}` : `Subtracted ${formatDuration(-seconds)}`
    return {
      work: (app) => spend(app, actor, subject.issue, argument),
      changes: { spend_time: { duration: seconds, user_id: actor.id } },
      summary: `${words} spent time.`,
    }
  }),
  remove_time_spent: planned(({ actor, subject }) => ({
    work: (app) => resetSpent(app, actor, subject.issue),
    changes: { spend_time: { duration: 'reset', user_id: actor.id } },
    summary: 'Removed spent time.',
  })),
  subscribe: (place) => subscribing(place, true),
  unsubscribe: (place) => subscribing(place, false),
  todo: (place) => reminding(place, true),
  done: (place) => reminding(place, false),
  award: ({ actor, subject: { issue }, emoji, argument }) => {
    const name = emoji(argument.replaceAll(':', ''))?.name
    if (name === undefined) return null
    const awardable = { columns: { issue_id: issue.id }, type: 'Issue' as const, id: issue.id }
    return {
      work: (app) => toggleAward(app, actor, awardable, name),
      changes: { emoji_award: name },
      summary: `Toggled :${name}: emoji award.`,
    }
  },
  relate: planned(async ({ app, actor, subject, argument }) => {
    const others = await issuesIn(app, actor, subject, argument)
    if (others.length === 0) return null
    return {
      work: async (app) => {
        for (const other of others) await unlessRefused(linkIssues(app, actor, subject, other, 'relates_to'))
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
  move: (place) => going(place, 'Moved', (app, to) => moveIssue(app, place.actor, place.subject, to)),
  clone: (place) =>
    going(place, 'Cloned', (app, to) => cloneIssue(app, place.actor, place.subject, to, { withNotes: false })),
}

/** `S2` or `high`. */
function severityNamed(argument: string): Severity | undefined {
  const [, number] = /^s([1-4])$/i.exec(argument) ?? []
  return number ? SEVERITIES[Number(number) - 1] : SEVERITIES.find((name) => name === argument.toLowerCase())
}

const LONGEST_WORK = 2_147_483_647
const isWork = (seconds: number | null): seconds is number => seconds !== null && Math.abs(seconds) <= LONGEST_WORK

const assigning = (assignee_ids: number[], summary: string): Order => ({
  wish: { assignee_ids },
  changes: { assignee_ids },
  summary,
})

const assigned = async ({ app, subject, wish }: Place): Promise<readonly number[]> =>
  wish.assignee_ids ?? (await assigneesOf(app.db, [subject.issue.id])).get(subject.issue.id) ?? []

const locking = (discussion_locked: boolean, summary: string): Order => ({
  wish: { discussion_locked },
  changes: { discussion_locked },
  summary,
})

function subscribing({ actor, subject: { issue } }: Place, wanted: boolean): Order {
  return {
    async work(app) {
      const usual = await isParticipant(app.db, issue, actor.id)
      await unlessRefused(setSubscription(app, actor, { issue_id: issue.id }, wanted, { usual }))
    },
    changes: { subscription_event: wanted ? 'subscribe' : 'unsubscribe' },
    summary: wanted ? 'Subscribed to this issue.' : 'Unsubscribed from this issue.',
  }
}

function reminding({ actor, subject: { issue } }: Place, wanted: boolean): Order {
  return {
    async work(app) {
      if (wanted) await remind(app, actor, issue)
      else await finishTodos(app, actor.id, issue.id)
    },
    changes: { todo_event: wanted ? 'add' : 'done' },
    summary: wanted ? 'Added a to-do item.' : 'Marked to-do item as done.',
  }
}

async function going(
  { app, actor, subject, argument }: Place,
  verb: string,
  go: (app: App, to: number) => Promise<Issue>,
): Promise<Order | null> {
  const target = argument === '' ? null : await projectNamed(app, actor, subject, argument)
  if (!target || !projectPolicy.read(target)) return null
  const path = pathWithNamespace(target.project, target.namespace)
  return {
    last: (app) => unlessRefused(go(app, target.project.id)),
    changes: { target_project_id: target.project.id },
    summary: `${verb} this issue to ${path}.`,
  }
}

/** Whether it was done. These services refuse before they write. */
async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return false
  }
}

/** In the transaction of the text. */
export async function obey(
  app: App,
  actor: User,
  subject: IssueSubject,
  commands: readonly QuickAction[],
  emoji: FindEmoji,
): Promise<Obeyed> {
  let wish: IssueWish = {}
  const orders: Order[] = []
  for (const { name, argument } of commands.slice(0, MOST_COMMANDS)) {
    const order = await HANDLERS[name]?.({ app, actor, subject, wish, emoji, argument })
    if (!order) continue
    orders.push(order)
    wish = { ...wish, ...order.wish }
  }
  if (Object.keys(wish).length > 0) await updateIssue(app, actor, subject, subject.issue.id, wish)
  for (const { work } of orders) await work?.(app)
  for (const { last } of orders) await last?.(app)
  return outcomeOf(orders)
}

/** Where nothing is left to do after the transaction, it is the last word. */
const outcomeOf = (orders: readonly Order[]): Obeyed => ({
  changes: Object.assign({}, ...orders.map(({ changes }) => changes)) as Changes,
  summary: orders.map(({ summary }) => summary),
  ...(orders.some(({ after }) => after) && { after: (app) => finish(app, orders) }),
})

async function finish(app: App, orders: readonly Order[]): Promise<Obeyed> {
  const done: Order[] = []
  for (const { after, ...order } of orders) if (!after || (await unlessRefused(after(app)))) done.push(order)
  return outcomeOf(done)
}

/** What a note on a commit orders: of all commands, a tag alone. */
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

/** An issue, and what the lines of its description order. */
export async function createIssueAsTold(
  app: App,
  actor: User,
  subject: ProjectSubject,
  wish: IssueWish & { title: string },
  sender: Sender,
  settle?: (app: App, issue: Issue) => Promise<void>,
): Promise<Issue> {
  if (typeof wish.description !== 'string') return createIssue(app, actor, subject, wish, sender, settle)
  const { text, commands } = splitQuickActions(wish.description)
  const emoji = await loadEmoji()
  const { issue, obeyed } = await transact(app, async (app) => {
    const issue = await createIssue(app, actor, subject, { ...wish, description: text }, sender, settle)
    if (commands.length === 0) return { issue, obeyed: null }
    const obeyed = await obey(app, actor, { ...subject, issue: { ...issue, assigned: false } }, commands, emoji)
    return { issue: (await findIssues(app.db, [issue.id]))[0]!, obeyed }
  })
  await obeyed?.after?.(app)
  return issue
}
