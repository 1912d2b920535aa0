/** Runs quick actions and collects their results, for any kind of item. */
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import type { FindEmoji } from '../../../lib/text/emoji.ts'
import type { QuickAction, QuickActionName } from '../../../lib/text/quick-actions.ts'
import type { Obeyed } from '../notes/noteable.ts'

/** Further actions of one text are ignored. */
const MOST_COMMANDS = 50

type Changes = Record<string, unknown>
/** False: the action failed and has changed nothing. */
export type Work<A = TransactionApp> = (app: A) => Promise<unknown>

/** The result of a quick action. */
export interface Order<W> {
  /** Changes of the item; all actions are applied in one update. */
  readonly input?: W
  /** Further work, in the order of the actions. */
  readonly work?: Work
  /** Work that runs last, because it moves the item away. */
  readonly last?: Work
  /** Work after the transaction. If it is refused, the action has changed nothing. */
  readonly after?: Work<App>
  readonly changes: Changes
  readonly summary: string
}

export interface CommandContext<S, W> {
  readonly app: App
  readonly actor: User
  /** The item, for the actor. */
  readonly subject: S
  /** The input as earlier actions have changed it. */
  readonly input: W
  readonly emoji: FindEmoji
  readonly argument: string
}

export type Handler<S, W> = (context: CommandContext<S, W>) => Promise<Order<W> | null> | Order<W> | null
export type Handlers<S, W> = Partial<Record<QuickActionName, Handler<S, W>>>

interface Item<S, W extends object> {
  readonly handlers: Handlers<S, W>
  readonly subject: S
  readonly emoji: FindEmoji
  update(app: App, input: W): Promise<unknown>
}

export async function carryOut<S, W extends object>(
  app: TransactionApp,
  actor: User,
  { handlers, subject, emoji, update }: Item<S, W>,
  commands: readonly QuickAction[],
): Promise<Obeyed> {
  let input = {} as W
  const orders: Order<W>[] = []
  for (const { name, argument } of commands.slice(0, MOST_COMMANDS)) {
    const order = await handlers[name]?.({ app, actor, subject, input, emoji, argument })
    if (!order) continue
    orders.push(order)
    input = { ...input, ...order.input }
  }
  if (Object.keys(input).length > 0) await update(app, input)
  const failed = new Set<Order<W>>()
  for (const when of ['work', 'last'] as const)
    for (const order of orders) if ((await order[when]?.(app)) === false) failed.add(order)
  return outcomeOf(orders.filter((order) => !failed.has(order)))
}

type Payload = Pick<Order<unknown>, 'after' | 'changes' | 'summary'>

/** The result is final where no work remains after the transaction. */
export const outcomeOf = (orders: readonly Payload[]): Obeyed => ({
  changes: orders.reduce<Changes>((all, { changes }) => ({ ...all, ...added(all, changes) }), {}),
  summary: orders.map(({ summary }) => summary),
  ...(orders.some(({ after }) => after) && { after: (app) => finish(app, orders) }),
})

/** Merges the labels that several actions add or remove. */
function added(before: Changes, changes: Changes): Changes {
  const lists = ['add_label_ids', 'remove_label_ids'].flatMap((name) =>
    before[name] && changes[name] ? [[name, [...(before[name] as number[]), ...(changes[name] as number[])]]] : [],
  )
  return { ...changes, ...(Object.fromEntries(lists) as Changes) }
}

async function finish(app: App, orders: readonly Payload[]): Promise<Obeyed> {
  const done: Payload[] = []
  for (const { after, ...order } of orders) if (!after || (await unlessRefused(after(app)))) done.push(order)
  return outcomeOf(done)
}

/** Whether the work succeeded. These services refuse before they write. */
export async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return false
  }
}
