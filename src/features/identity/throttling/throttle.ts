import { sql, type Expression, type SqlBool } from 'kysely'
import { HOUR, MINUTE, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { hotQuery } from '../../../store/hot.ts'

const MOST_TRIES = 10
const WINDOW = MINUTE
const BANNED_FOR = HOUR

/**
 * Counts an attempt before its result is known, so that concurrent attempts cannot exceed the limit, and throws beyond
 * the limit. The counts are in the store, so all processes share them.
 */
export async function countTry(app: App, key: string): Promise<void> {
  if ((await countWithin(app, key, WINDOW)) <= MOST_TRIES) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(WINDOW / 1000) } })
}

interface Counting {
  readonly window: number
  /** The window ends that long after the first attempt, or after the last one. */
  readonly since: 'first' | 'last'
  /** A condition on the current count; if false, the attempt is not counted. */
  readonly where?: Expression<SqlBool>
}

/** Increments the count in one statement and returns it; null if the attempt is not counted. */
export async function addTry(app: App, key: string, { window, since, where }: Counting): Promise<number | null> {
  const now = timestamp(app.clock)
  const until = after(app.clock, window)
  const added = await app.db
    .insertInto('throttles')
    .values({ key, count: 1, until })
    .onConflict((c) => {
      const update = c.column('key').doUpdateSet((eb) => {
        const isOpen = () => eb.case().when('throttles.until', '>', now)
        return {
          count: isOpen()
            .then(eb('throttles.count', '+', 1))
            .else(1)
            .end(),
          until: since === 'last' ? until : isOpen().then(eb.ref('throttles.until')).else(until).end(),
        }
      })
      return where ? update.where(() => where) : update
    })
    .returning('count')
    .executeTakeFirst()
  return added?.count ?? null
}

/** Increments the count and returns it. The window starts with its first attempt. */
export const countWithin = async (app: App, key: string, window: number): Promise<number> =>
  (await addTry(app, key, { window, since: 'first' }))!

/** Decrements the count after a successful attempt. */
export async function forgiveTry(app: App, key: string): Promise<void> {
  await app.db
    .updateTable('throttles')
    .set({ count: sql`count - 1` })
    .where('key', '=', key)
    .where('count', '>', 0)
    .execute()
}

const throttleOf = hotQuery((db, p: { key: string }) => db.selectFrom('throttles').selectAll().where('key', '=', p.key))

/** The number of recent failures; `banned` after too many. */
export async function recentFailures(app: App, key: string): Promise<number | 'banned'> {
  const [known] = await throttleOf(app.db, { key })
  if (!known || known.until <= timestamp(app.clock)) return 0
  return known.count >= MOST_TRIES ? 'banned' : known.count
}

/** The failure that reaches the limit bans the key for an hour. */
export async function countFailure(app: App, key: string): Promise<void> {
  if ((await countWithin(app, key, WINDOW)) < MOST_TRIES) return
  await app.db
    .updateTable('throttles')
    .set({ until: after(app.clock, BANNED_FOR) })
    .where('key', '=', key)
    .execute()
}

export async function forgetFailures(app: App, key: string): Promise<void> {
  await app.db.deleteFrom('throttles').where('key', '=', key).execute()
}
