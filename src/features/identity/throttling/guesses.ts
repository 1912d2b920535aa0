/**
 * Limits guesses of a password or code: per account and network, and with a higher limit per account over all networks.
 * An attacker cannot lock the owner out: networks that the owner signed in from are exempt from the limit over all
 * networks.
 */
import { DAY, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import { forgetGuesses, takeGuess, waitOf, type Guess } from './backoff.ts'
import { forgiveTry } from './throttle.ts'

const KNOWN_FOR = 30 * DAY

type Secret = 'password' | 'code'

/** Per network, and over all networks. */
const BATCHES = { password: [10, 100], code: [10, 30] } as const

type Guesser = Pick<User, 'id' | 'password_digest'>

/** A new password starts with new counts. */
const keyOf = (secret: string, { id, password_digest }: Guesser) =>
  `${secret} ${id} ${digestOf(password_digest ?? '').slice(0, 16)}`

export interface GuessOptions {
  /** For a secret that many networks together cannot guess either. */
  readonly onlyByNetwork?: boolean
}

export interface Guesses {
  /** After a correct guess. */
  forget(): Promise<void>
  /** For a guess that was not checked, or belongs to another account. */
  takeBack(): Promise<void>
}

/** Counts a guess before its result is known. Returns the milliseconds to wait if the limit is exceeded. */
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

/** Written at most once a day, because programs sign in with every request. */
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
