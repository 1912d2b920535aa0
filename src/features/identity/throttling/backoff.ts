/**
 * Backoff for guesses: after each batch of failed guesses the wait doubles, up to eight hours. A day without a guess
 * resets the count. The counts are in the store, so all processes share them.
 */
import { expressionBuilder } from 'kysely'
import { DAY, HOUR, MINUTE, after, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import type { Tables } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { addTry } from './throttle.ts'

export interface Guess {
  readonly key: string
  /** Number of guesses before the next wait. */
  readonly batch: number
}

const KEPT_FOR = DAY
/** Ten minutes, doubled up to the longest wait. */
const WAITS = [10, 20, 40, 80, 160, 320, 480].map((minutes) => minutes * MINUTE)
export const LONGEST_WAIT = 8 * HOUR

const waitAfter = (batches: number) => WAITS[batches - 1] ?? LONGEST_WAIT

/**
 * Counts a guess before its result is known, so that concurrent guesses cannot exceed the limit. Returns false during a
 * wait; then nothing is counted.
 */
export async function takeGuess(app: App, { key, batch }: Guess): Promise<boolean> {
  const eb = expressionBuilder<Tables, 'throttles'>()
  const isOver = WAITS.map((wait, n) =>
    eb.and([
      eb('throttles.count', '<', batch * (n + 2)),
      eb('throttles.until', '<=', after(app.clock, KEPT_FOR - wait)),
    ]),
  )
  const where = eb.or([
    eb('throttles.until', '<=', timestamp(app.clock)),
    eb(eb('throttles.count', '%', batch), '!=', 0),
    eb('throttles.count', '=', 0),
    ...isOver,
    eb('throttles.until', '<=', after(app.clock, KEPT_FOR - LONGEST_WAIT)),
  ])
  return (await addTry(app, key, { window: KEPT_FOR, since: 'last', where })) !== null
}

const countOf = hotQuery((db, p: { key: string }) => db.selectFrom('throttles').selectAll().where('key', '=', p.key))

/** How long the next guess has to wait, in milliseconds. */
export async function waitOf(app: App, { key, batch }: Guess): Promise<number> {
  const [known] = await countOf(app.db, { key })
  if (!known || known.count === 0 || known.count % batch !== 0) return 0
  const last = Date.parse(known.until) - KEPT_FOR
  return Math.max(0, last + waitAfter(known.count / batch) - app.clock.now().getTime())
}

/** Throws if the limit is exceeded. The error tells an already authenticated caller how long to wait. */
export async function assertGuess(app: App, guess: Guess): Promise<void> {
  if (await takeGuess(app, guess)) return
  throw tooManyGuesses(await waitOf(app, guess))
}

export const tooManyGuesses = (wait: number) =>
  new Refusal('throttled', undefined, { headers: { 'Retry-After': String(Math.max(1, Math.ceil(wait / 1000))) } })

/** After a correct guess: the failed ones before it were the owner's. */
export async function forgetGuesses(app: App, { key }: Guess): Promise<void> {
  await app.db.deleteFrom('throttles').where('key', '=', key).execute()
}
