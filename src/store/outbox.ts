/**
 * News of what happened, written in the transaction of the change itself and handed out after it committed: a change
 * that was rolled back is never told, one that was committed is told at least once.
 */
import type { Generated } from 'kysely'
import { timestamp, type Clock } from '../clock.ts'
import type { Events } from './database.ts'
import type { Transactable } from './transact.ts'

declare module './database.ts' {
  interface Tables {
    events: {
      id: Generated<number>
      name: string
      payload: string
      created_at: string
      dispatched_at: string | null
    }
  }
}

export interface Emitter extends Transactable {
  readonly clock: Clock
  readonly jobs: { wake(): void }
}

export async function emit<E extends keyof Events>(app: Emitter, name: E, payload: Events[E]): Promise<void> {
  await emitAll(app, name, [payload])
}

const AT_ONCE = 500

/** Several of the same name, in order. */
export async function emitAll<E extends keyof Events>(
  app: Emitter,
  name: E,
  payloads: readonly Events[E][],
): Promise<void> {
  const created_at = timestamp(app.clock)
  for (let n = 0; n < payloads.length; n += AT_ONCE) {
    const rows = payloads.slice(n, n + AT_ONCE).map((payload) => ({
      name,
      payload: JSON.stringify(payload),
      created_at,
      dispatched_at: null,
    }))
    await app.db.insertInto('events').values(rows).execute()
  }
  if (payloads.length > 0) app.onCommit(() => app.jobs.wake())
}

/** Events that every subscriber has had for long; without a moment, all there are. */
export async function forgetEvents({ db }: Pick<Emitter, 'db'>, toldBefore?: string): Promise<void> {
  await db
    .deleteFrom('events')
    .$if(toldBefore !== undefined, (query) => query.where('dispatched_at', '<', toldBefore!))
    .execute()
}
