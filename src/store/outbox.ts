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
  await app.db
    .insertInto('events')
    .values({ name, payload: JSON.stringify(payload), created_at: timestamp(app.clock), dispatched_at: null })
    .execute()
  app.onCommit(() => app.jobs.wake())
}

/** Events that every subscriber has had for long; without a moment, all there are. */
export async function forgetEvents({ db }: Pick<Emitter, 'db'>, toldBefore?: string): Promise<void> {
  await db
    .deleteFrom('events')
    .$if(toldBefore !== undefined, (query) => query.where('dispatched_at', '<', toldBefore!))
    .execute()
}
