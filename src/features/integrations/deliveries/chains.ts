/** Stops recursion: a webhook that is called because of its own last call would never end (reference: recursion). */
import { HOUR, after } from '../../../clock.ts'
import type { App } from '../../../context.ts'

const LONGEST_CHAIN = 100
/** An action later than this after an event does not count as caused by the event. */
const CHAIN_LASTS = HOUR

interface Chained {
  readonly event_id: number
  readonly root_id: number | null
}

/** Decides which deliveries to drop. Callers ask in the order of events. */
export class Chains {
  readonly #app: App
  /** Chain → hook → the event that the hook was called for. */
  readonly #called = new Map<number, Map<number, number>>()

  constructor(app: App) {
    this.#app = app
  }

  async isAtItsEnd(hook: number, { event_id, root_id }: Chained): Promise<boolean> {
    if (root_id === null) return false
    const called = this.#called.get(root_id) ?? (await this.#load(root_id))
    this.#called.set(root_id, called)
    const isEnd = called.has(hook) ? called.get(hook) !== event_id : called.size >= LONGEST_CHAIN
    if (isEnd)
      this.#app.log.warn({ hook, event: event_id, chain: root_id }, 'a hook would set itself off; it is not called')
    else called.set(hook, event_id)
    return isEnd
  }

  async #load(root: number): Promise<Map<number, number>> {
    const rows = await this.#app.db
      .selectFrom('events')
      .innerJoin('event_messages', 'event_messages.event_id', 'events.id')
      .innerJoin('hook_deliveries', 'hook_deliveries.message_id', 'event_messages.id')
      .where((eb) => eb.or([eb('events.id', '=', root), eb('events.root_id', '=', root)]))
      .where('hook_deliveries.hook_id', 'is not', null)
      .where('events.created_at', '>', after(this.#app.clock, -CHAIN_LASTS))
      .groupBy('hook_deliveries.hook_id')
      .select((eb) => ['hook_deliveries.hook_id', eb.fn.max('events.id').as('event_id')])
      .limit(LONGEST_CHAIN)
      .execute()
    return new Map(rows.map(({ hook_id, event_id }) => [hook_id!, event_id]))
  }
}
