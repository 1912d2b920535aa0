/** Quick actions that issues and merge requests share. */
import type { App, User } from '../../../context.ts'
import { formatDuration, parseDuration } from '../../../lib/time/duration.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { toggleAward } from '../award-emoji/service.ts'
import { columnsOfItem, targetOfItem, type ItemKey, type ItemKind, type ItemRow } from '../items/kind.ts'
import { labelsOfItems, usersOfItems } from '../items/links.ts'
import { isParticipant } from '../items/participants.ts'
import { findItem, findNamedItem } from '../items/queries.ts'
import { itemKind } from '../items/registry.ts'
import type { Label } from '../labels/model.ts'
import { setSubscription } from '../subscriptions/service.ts'
import { trackTime } from '../time-tracking/tracking.ts'
import { finishTodos, remind } from '../todos/service.ts'
import { labelsIn, milestoneIn, peopleIn, referencesIn } from './arguments.ts'
import { unlessRefused, type Handler, type Handlers, type Order, type CommandContext, type Work } from './orders.ts'

/** The changes that these actions make to an item. */
export interface SharedInput {
  title?: string | undefined
  state_event?: 'close' | 'reopen' | undefined
  discussion_locked?: boolean | null | undefined
  assignee_ids?: readonly number[] | undefined
  milestone_id?: number | null | undefined
  labels?: readonly string[] | undefined
  add_labels?: readonly string[] | undefined
  remove_labels?: readonly string[] | undefined
}

/** A kind of item with the rules of its quick actions. */
export interface ActionKind<S> extends ItemKind {
  row(subject: S): ItemRow
  /** Whether the user may change labels, milestone, assignees and times. */
  plans(subject: S): boolean
  /** Of these users, those who can be assigned. */
  readers(app: App, subject: S, ids: readonly number[]): Promise<readonly User[]>
  /** The kinds whose labels and milestone can be copied. */
  readonly copied: readonly ItemKey[]
}

export const tildes = (labels: readonly Label[]) =>
  labels.map(({ title }) => (/\s/.test(title) ? `~"${title}"` : `~${title}`))
const labelWords = (labels: readonly Label[]) =>
  `${tildes(labels).join(' ')} ${labels.length === 1 ? 'label' : 'labels'}`
export const titlesOf = (labels: readonly Label[]) => labels.map(({ title }) => title)
export const idsOf = (some: readonly { readonly id: number }[]) => some.map(({ id }) => id)
export const namesOf = (users: readonly User[]) => users.map(({ username }) => `@${username}`).join(' and ')

const LONGEST_WORK = 2_147_483_647
const isWork = (seconds: number | null): seconds is number => seconds !== null && Math.abs(seconds) <= LONGEST_WORK

/** Only for users who may plan. */
export const plannedBy =
  <S>({ plans }: Pick<ActionKind<S>, 'plans'>) =>
  <W>(handler: Handler<S, W>): Handler<S, W> =>
  (context) =>
    plans(context.subject) ? handler(context) : null

const assigning = (assignee_ids: readonly number[], summary: string): Order<SharedInput> => ({
  input: { assignee_ids },
  changes: { assignee_ids },
  summary,
})

const locking = (discussion_locked: boolean, summary: string): Order<SharedInput> => ({
  input: { discussion_locked },
  changes: { discussion_locked },
  summary,
})

export function sharedHandlers<S extends ProjectSubject>(kind: ActionKind<S>): Handlers<S, SharedInput> {
  const { row, noun } = kind
  const planned = plannedBy(kind)<SharedInput>
  type Context = CommandContext<S, SharedInput>
  const assigned = async ({ app, subject, input }: Context) =>
    input.assignee_ids ?? (await usersOfItems(app.db, kind, 'assignees', [row(subject).id])).get(row(subject).id) ?? []
  const times = trackTime(kind)

  const subscribing = ({ actor, subject }: Context, shouldSubscribe: boolean): Order<SharedInput> => ({
    async work(app) {
      const item = row(subject)
      const usual = await isParticipant(app.db, kind, item, actor.id)
      await unlessRefused(setSubscription(app, actor, columnsOfItem(kind, item.id), shouldSubscribe, { usual }))
    },
    changes: { subscription_event: shouldSubscribe ? 'subscribe' : 'unsubscribe' },
    summary: shouldSubscribe ? `Subscribed to this ${noun}.` : `Unsubscribed from this ${noun}.`,
  })

  const reminding = ({ actor, subject }: Context, shouldAdd: boolean): Order<SharedInput> => ({
    async work(app) {
      if (shouldAdd) await remind(app, actor, targetOfItem(kind, row(subject)))
      else await finishTodos(app, actor.id, targetOfItem(kind, row(subject)))
    },
    changes: { todo_event: shouldAdd ? 'add' : 'done' },
    summary: shouldAdd ? 'Added a to-do item.' : 'Marked to-do item as done.',
  })

  /** The item that the argument names, in this project only. */
  const sourceIn = async ({ app, actor, subject, argument }: Context) => {
    for (const one of referencesIn(argument)) {
      if ((one.kind !== 'issue' && one.kind !== 'merge_request') || !kind.copied.includes(one.kind)) continue
      const found = await findNamedItem(app, actor, subject, itemKind(one.kind), one)
      if (!found) continue
      const item =
        found.project.id === subject.project.id ? await findItem(app.db, itemKind(one.kind), found.item.id) : null
      return item ? { kind: itemKind(one.kind), item } : null
    }
    return null
  }

  return {
    close: ({ subject }) =>
      row(subject).state === 'opened'
        ? { input: { state_event: 'close' }, changes: { state_event: 'close' }, summary: `Closed this ${noun}.` }
        : null,
    reopen: ({ subject }) =>
      row(subject).state === 'closed'
        ? { input: { state_event: 'reopen' }, changes: { state_event: 'reopen' }, summary: `Reopened this ${noun}.` }
        : null,
    title: ({ argument: title }) =>
      title !== '' && Array.from(title).length <= 255
        ? { input: { title }, changes: { title }, summary: `Changed the title to "${title}".` }
        : null,
    assign: planned(async (context) => {
      const named = await peopleIn(context.app, context.actor, context.argument)
      const users = await kind.readers(context.app, context.subject, idsOf(named))
      if (users.length === 0) return null
      return assigning([...new Set([...(await assigned(context)), ...idsOf(users)])], `Assigned ${namesOf(users)}.`)
    }),
    reassign: planned(async ({ app, actor, argument }) => {
      const users = await peopleIn(app, actor, argument)
      return users.length === 0 ? null : assigning(idsOf(users), `Assigned ${namesOf(users)}.`)
    }),
    unassign: planned(async (context) => {
      const users = await peopleIn(context.app, context.actor, context.argument)
      const gone = new Set(idsOf(users))
      const before = await assigned(context)
      const left = context.argument === '' ? [] : before.filter((id) => !gone.has(id))
      if (left.length === before.length) return null
      return assigning(left, users.length === 0 ? 'Removed all assignees.' : `Removed assignee ${namesOf(users)}.`)
    }),
    milestone: planned(async ({ app, subject, argument }) => {
      const milestone = await milestoneIn(app, subject, argument)
      if (!milestone) return null
      const input = { milestone_id: milestone.id }
      return { input, changes: input, summary: `Set the milestone to %"${milestone.title}".` }
    }),
    remove_milestone: planned(({ subject }) =>
      row(subject).milestone_id === null
        ? null
        : { input: { milestone_id: 0 }, changes: { milestone_id: null }, summary: 'Removed the milestone.' },
    ),
    label: planned(async ({ app, subject, input, argument }) => {
      const labels = await labelsIn(app, subject, argument)
      if (labels.length === 0) return null
      const add_labels = [...(input.add_labels ?? []), ...titlesOf(labels)]
      const remove_labels = input.remove_labels?.filter((title) => !add_labels.includes(title))
      return {
        input: { add_labels, ...(remove_labels && { remove_labels }) },
        changes: { add_label_ids: idsOf(labels) },
        summary: `Added ${labelWords(labels)}.`,
      }
    }),
    unlabel: planned(async ({ app, subject, input, argument }) => {
      if (argument === '') {
        return {
          input: { labels: [], add_labels: [], remove_labels: [] },
          changes: { label_ids: [] },
          summary: 'Removed all labels.',
        }
      }
      const labels = await labelsIn(app, subject, argument)
      if (labels.length === 0) return null
      const remove_labels = [...(input.remove_labels ?? []), ...titlesOf(labels)]
      return {
        input: { remove_labels },
        changes: { remove_label_ids: idsOf(labels) },
        summary: `Removed ${labelWords(labels)}.`,
      }
    }),
    relabel: planned(async ({ app, subject, argument }) => {
      const labels = await labelsIn(app, subject, argument)
      if (labels.length === 0) return null
      return {
        input: { labels: titlesOf(labels), add_labels: [], remove_labels: [] },
        changes: { label_ids: idsOf(labels) },
        summary: `Replaced all labels with ${labelWords(labels)}.`,
      }
    }),
    copy_metadata: planned(async (context) => {
      const source = await sourceIn(context)
      if (!source) return null
      const { id, iid, milestone_id } = source.item
      const labels = (await labelsOfItems(context.app.db, source.kind, [id])).get(id) ?? []
      const milestone = milestone_id === null ? {} : { milestone_id }
      return {
        input: { add_labels: [...(context.input.add_labels ?? []), ...titlesOf(labels)], ...milestone },
        changes: { add_label_ids: idsOf(labels), ...milestone },
        summary: `Copied labels and milestone from ${source.kind.sign}${iid}.`,
      }
    }),
    lock: planned(({ subject }) => (row(subject).discussion_locked ? null : locking(true, 'Locked the discussion.'))),
    unlock: planned(({ subject }) =>
      row(subject).discussion_locked ? locking(false, 'Unlocked the discussion.') : null,
    ),
    estimate: planned(({ actor, subject, argument }) => {
      const seconds = parseDuration(argument)
      if (!isWork(seconds) || seconds <= 0) return null
      const work: Work = (app) => times.estimate(app, actor, row(subject), argument)
      return { work, changes: { time_estimate: seconds }, summary: `Set time estimate to ${formatDuration(seconds)}.` }
    }),
    remove_estimate: planned(({ actor, subject }) => ({
      work: (app) => times.resetEstimate(app, actor, row(subject)),
      changes: { time_estimate: 0 },
      summary: 'Removed time estimate.',
    })),
    spend: planned(({ actor, subject, argument }) => {
      const seconds = parseDuration(argument)
      if (!isWork(seconds) || seconds === 0) return null
      const words = seconds > 0 ? `Added ${formatDuration(seconds)}` : `Subtracted ${formatDuration(-seconds)}`
      return {
        // Runs after earlier actions: only then is it known whether so much time was spent.
        work: (app) => unlessRefused(times.spend(app, actor, row(subject), argument)),
        changes: { spend_time: { duration: seconds, user_id: actor.id } },
        summary: `${words} spent time.`,
      }
    }),
    remove_time_spent: planned(({ actor, subject }) => ({
      work: (app) => times.resetSpent(app, actor, row(subject)),
      changes: { spend_time: { duration: 'reset', user_id: actor.id } },
      summary: 'Removed spent time.',
    })),
    subscribe: (context) => subscribing(context, true),
    unsubscribe: (context) => subscribing(context, false),
    todo: (context) => reminding(context, true),
    done: (context) => reminding(context, false),
    award: ({ actor, subject, emoji, argument }) => {
      const name = emoji(argument.replaceAll(':', ''))?.name
      if (name === undefined) return null
      return {
        work(app) {
          const { id, project_id } = row(subject)
          const awardable = { columns: columnsOfItem(kind, id), type: kind.type, id, project_id }
          return toggleAward(app, actor, awardable, name)
        },
        changes: { emoji_award: name },
        summary: `Toggled :${name}: emoji award.`,
      }
    },
  }
}
