/**
 * How often a password or a code may be guessed: by account and network, and more often by account in all. Nobody locks
 * an account for everybody: networks that its owner signed in from are not held to the count of all networks.
 */
import { DAY, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { networkOf } from '../../../lib/addresses.ts'
import { digestOf } from '../../../lib/secrets.ts'
import { forgetGuesses, takeGuess, waitOf, type Guess } from './backoff.ts'
import { forgiveTry } from './throttle.ts'

const KNOWN_FOR = 30 * DAY

type Secret = 'password' | 'code'

/** By network, and in all. */
const BATCHES = { password: [10, 100], code: [10, 30] } as const

type Guesser = Pick<User, 'id' | 'password_digest'>

/** Another password has counts of its own. */
const keyOf = (secret: string, { id, password_digest }: Guesser) =>
  `${secret} ${id} ${digestOf(password_digest ?? '').slice(0, 16)}`

export interface GuessOptions {
  /** Of a secret that cannot be guessed by many together. */
  readonly onlyByNetwork?: boolean
}

export interface Guesses {
  /** Of a right one. */
  forget(): Promise<void>
  /** Of one that was not checked, or belongs to another account. */
  takeBack(): Promise<void>
}

/** Counts a guess before its outcome is known; the milliseconds to wait where it is one too many. */
export async function guess(
  app: App,
  secret: Secret,
  user: Guesser,
  address: string,
  { onlyByNetwork = false }: GuessOptions = {},
): Promise<Guesses | number> {
  const key = keyOf(secret, user)
  const [few, many] = BATCHES[secret]
  const inAll: Guess = { key, batch: many }
  const byNetwork: Guess = { key: `${key} ${networkOf(address)}`, batch: few }
  if (!(await takeGuess(app, byNetwork))) return waitOf(app, byNetwork)
  const isCounted = !onlyByNetwork && !(await isKnownNetwork(app, user, address))
  if (isCounted && !(await takeGuess(app, inAll))) {
    await forgiveTry(app, byNetwork.key)
    return waitOf(app, inAll)
  }
  const takeBackInAll = async () => {
    if (isCounted) await forgiveTry(app, inAll.key)
  }
  return {
    async forget() {
      await forgetGuesses(app, byNetwork)
      await takeBackInAll()
    },
    async takeBack() {
      await forgiveTry(app, byNetwork.key)
      await takeBackInAll()
    },
  }
}

const knownKey = (user: Guesser, address: string) => `${keyOf('signed in', user)} ${networkOf(address)}`

async function isKnownNetwork({ db, clock }: App, user: Guesser, address: string): Promise<boolean> {
  const known = await db
    .selectFrom('throttles')
    .select('key')
    .where('key', '=', knownKey(user, address))
    .where('until', '>', timestamp(clock))
    .executeTakeFirst()
  return known !== undefined
}

/** Noted once a day at most: programs sign in with every request. */
export async function noteNetwork(app: App, user: Guesser, address: string): Promise<void> {
  const key = knownKey(user, address)
  const until = after(app.clock, KNOWN_FOR)
  const fresh = await app.db
    .selectFrom('throttles')
    .select('key')
    .where('key', '=', key)
    .where('until', '>', after(app.clock, KNOWN_FOR - DAY))
    .executeTakeFirst()
  if (fresh) return
  await app.db
    .insertInto('throttles')
    .values({ key, count: 1, until })
    .onConflict((c) => c.column('key').doUpdateSet({ until }))
    .execute()
}
