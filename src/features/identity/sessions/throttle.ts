import { sql, type Expression, type SqlBool } from 'kysely'
import { HOUR, MINUTE, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { hotQuery } from '../../../store/hot.ts'

const MOST_TRIES = 10
const WINDOW = MINUTE
const BANNED_FOR = HOUR

/**
 * Counts a try before its outcome is known, so that tries side by side cannot slip through together, and refuses it
 * beyond the limit. Kept in the store: all processes share one count.
 */
export async function countTry(app: App, key: string): Promise<void> {
  if ((await countWithin(app, key, WINDOW)) <= MOST_TRIES) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(WINDOW / 1000) } })
}

interface Counting {
  readonly window: number
  /** The window closes that long after the first try, or after the last one. */
  readonly since: 'first' | 'last'
  /** Asked of the count there is; nothing is counted where it does not hold. */
  readonly where?: Expression<SqlBool>
}

/** One more in one statement, and how many that makes; null where it is not counted. */
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

/** One more, and how many that makes since the first of them, until the window after that one closes. */
export const countWithin = async (app: App, key: string, window: number): Promise<number> =>
  (await addTry(app, key, { window, since: 'first' }))!

/** Takes a try back that turned out well. */
export async function forgiveTry(app: App, key: string): Promise<void> {
  await app.db
    .updateTable('throttles')
    .set({ count: sql`count - 1` })
    .where('key', '=', key)
    .where('count', '>', 0)
    .execute()
}

const throttleOf = hotQuery((db, p: { key: string }) => db.selectFrom('throttles').selectAll().where('key', '=', p.key))

/** How often someone failed of late; `banned` once that was too often. */
export async function recentFailures(app: App, key: string): Promise<number | 'banned'> {
  const [known] = await throttleOf(app.db, { key })
  if (!known || known.until <= timestamp(app.clock)) return 0
  return known.count >= MOST_TRIES ? 'banned' : known.count
}

/** The one that fills the measure closes the door for an hour. */
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
