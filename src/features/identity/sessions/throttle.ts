import { sql } from 'kysely'
import { MINUTE, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'

const MOST_TRIES = 10
const WINDOW = MINUTE

/**
 * Counts a try before its outcome is known, so that tries side by side cannot slip through together, and refuses it
 * beyond the limit. Kept in the store: all processes share one count.
 */
export async function countTry(app: App, key: string): Promise<void> {
  const now = timestamp(app.clock)
  const until = after(app.clock, WINDOW)
  const { count } = await app.db
    .insertInto('throttles')
    .values({ key, count: 1, until })
    .onConflict((c) =>
      c.column('key').doUpdateSet((eb) => ({
        count: eb
          .case()
          .when('throttles.until', '>', now)
          .then(eb('throttles.count', '+', 1))
          .else(1)
          .end(),
        until: eb
          .case()
          .when('throttles.until', '>', now)
          .then(eb.ref('throttles.until'))
          .else(eb.ref('excluded.until'))
          .end(),
      })),
    )
    .returning('count')
    .executeTakeFirstOrThrow()
  if (count <= MOST_TRIES) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(WINDOW / 1000) } })
}

/** Takes a try back that turned out well. */
export async function forgiveTry(app: App, key: string): Promise<void> {
  await app.db
    .updateTable('throttles')
    .set({ count: sql`count - 1` })
    .where('key', '=', key)
    .where('count', '>', 0)
    .execute()
}
