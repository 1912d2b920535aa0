/** What commands come to, and how it is carried out, whatever they are given to. */
import type { App, User } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import type { FindEmoji } from '../../../lib/emoji.ts'
import type { QuickAction, QuickActionName } from '../../../lib/quick-actions.ts'
import type { Obeyed } from '../notes/noteable.ts'

/** More of one text are not carried out. */
const MOST_COMMANDS = 50

type Changes = Record<string, unknown>
/** False: it could not be done, and the command has done nothing. */
export type Work = (app: App) => Promise<unknown>

/** What a command comes to. */
export interface Order<W> {
  /** Of the item, all of them at once. */
  readonly wish?: W
  /** What else is to do, in the order of the commands. */
  readonly work?: Work
  /** The same, when all else is done: the item goes away. */
  readonly last?: Work
  /** The same, once the transaction has ended; refused, the command has done nothing. */
  readonly after?: Work
  readonly changes: Changes
  readonly summary: string
}

export interface CommandContext<S, W> {
  readonly app: App
  readonly actor: User
  /** The item, as the actor meets it. */
  readonly subject: S
  /** As the commands before it leave it. */
  readonly wish: W
  readonly emoji: FindEmoji
  readonly argument: string
}

export type Handler<S, W> = (place: CommandContext<S, W>) => Promise<Order<W> | null> | Order<W> | null
export type Handlers<S, W> = Partial<Record<QuickActionName, Handler<S, W>>>

interface Item<S, W extends object> {
  readonly handlers: Handlers<S, W>
  readonly subject: S
  readonly emoji: FindEmoji
  update(app: App, input: W): Promise<unknown>
}

/** In the transaction of the text. */
export async function carryOut<S, W extends object>(
  app: App,
  actor: User,
  { handlers, subject, emoji, update }: Item<S, W>,
  commands: readonly QuickAction[],
): Promise<Obeyed> {
  let input = {} as W
  const orders: Order<W>[] = []
  for (const { name, argument } of commands.slice(0, MOST_COMMANDS)) {
    const order = await handlers[name]?.({ app, actor, subject, wish: input, emoji, argument })
    if (!order) continue
    orders.push(order)
    input = { ...input, ...order.wish }
  }
  if (Object.keys(input).length > 0) await update(app, input)
  const failed = new Set<Order<W>>()
  for (const when of ['work', 'last'] as const)
    for (const order of orders) if ((await order[when]?.(app)) === false) failed.add(order)
  return outcomeOf(orders.filter((order) => !failed.has(order)))
}

type Payload = Pick<Order<unknown>, 'after' | 'changes' | 'summary'>

/** Where nothing is left to do after the transaction, it is the last word. */
export const outcomeOf = (orders: readonly Payload[]): Obeyed => ({
  changes: orders.reduce<Changes>((all, { changes }) => ({ ...all, ...added(all, changes) }), {}),
  summary: orders.map(({ summary }) => summary),
  ...(orders.some(({ after }) => after) && { after: (app) => finish(app, orders) }),
})

/** Labels that several commands add or remove are told together. */
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

/** Whether it was done. These services refuse before they write. */
export async function unlessRefused(work: Promise<unknown>): Promise<boolean> {
  try {
    await work
    return true
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return false
  }
}
