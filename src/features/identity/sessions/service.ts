import { sql } from 'kysely'
import { DAY, MINUTE, after, timestamp, today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, unauthenticated } from '../../../errors.ts'
import { networkOf } from '../../../lib/net/addresses.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { assertMayComeFrom } from '../addresses/service.ts'
import { isPassword } from '../passwords.ts'
import { directoryIdentities } from '../users/identities.ts'
import { findUserByLogin } from '../users/queries.ts'
import { wakeUser } from '../users/state.ts'
import { directoryRefusal, signInByDirectory } from './directory.ts'
import { guess, noteNetwork, type Guesses } from '../throttling/guesses.ts'
import { countTry, forgiveTry } from '../throttling/throttle.ts'

const UNREACHABLE = 'The LDAP server cannot be reached. Try again later.'
const TWO_FACTOR = '401 Unauthorized. You have 2FA enabled. Please use a personal access token to access the API'

export interface Credentials {
  readonly login: string
  readonly password: string
  readonly address: string
}

/**
 * The only function that accepts a password. A caller who does not know the password learns nothing about the account:
 * an unknown login, a wrong password and a locked account give the same answer after the same time and take the same
 * path through the directories. Directory users have only the password of the directory.
 */
export async function signIn(app: App, { login, password, address }: Credentials): Promise<User> {
  const tries = `sign-in ${networkOf(address)}`
  await countTry(app, tries)
  const named = await findUserByLogin(app.db, login)
  const guesses = named && !named.ghost ? await guessPassword(app, named, address) : null
  const known = guesses ? named : null
  const identities = known ? await directoryIdentities(app, known) : []
  const digest = identities.length === 0 ? (known?.password_digest ?? null) : null
  const isOwn = await isPassword(password, digest)
  const user = isOwn ? known : await signInByDirectory(app, { login, password, identities })
  // A directory does not know how many guesses were made here.
  const isGuessedTooOften = guesses === null && typeof user === 'object' && user?.id === named?.id
  if (user === null || user === 'unreachable' || isGuessedTooOften) {
    // A password that could not be checked does not count as a wrong guess.
    if (user === 'unreachable' && digest === null) await guesses?.takeBack()
    throw user === 'unreachable' ? directoryRefusal(UNREACHABLE) : unauthenticated()
  }
  await forgiveTry(app, tries)
  if (user.id === known?.id) await guesses?.forget()
  else await guesses?.takeBack()
  if (user.state !== 'active' && user.state !== 'deactivated') return refuse(app, user)
  await assertMayComeFrom(app, user, address)
  if (user.two_factor_enabled) throw new Refusal('unauthenticated', TWO_FACTOR, { reason: 'two_factor', user })
  return completeSignIn(app, user, address)
}

/**
 * Null if there were too many guesses. With a second factor, a guessed password alone is not enough, so only the
 * network is limited.
 */
async function guessPassword(app: App, user: User, address: string): Promise<Guesses | null> {
  const made = await guess(app, 'password', user, address, { onlyByNetwork: user.two_factor_enabled })
  return typeof made === 'number' ? null : made
}

/** For a user who has passed every required step. */
export async function completeSignIn(app: App, user: User, address: string): Promise<User> {
  if (user.state !== 'active' && user.state !== 'deactivated') return refuse(app, user)
  if (isLateToConfirm(app, user)) throw new Refusal('unauthenticated', '401 Unauthorized', { reason: 'unconfirmed' })
  const woken = await wakeUser(app, user)
  if (woken.state !== 'active') return refuse(app, woken)
  await noteNetwork(app, woken, address)
  return woken
}

async function refuse(app: App, { id, state }: User): Promise<never> {
  if (!app.config.readOnly) await transact(app, (app) => emit(app, 'user.sign_in_refused', { id }))
  const reason = state === 'blocked_pending_approval' ? 'pending' : 'blocked'
  throw new Refusal('unauthenticated', '401 Unauthorized', { reason })
}

/** A user who registered themselves and has not confirmed the address before the deadline. */
export const isLateToConfirm = ({ clock }: App, { confirmed_at, confirm_by }: User): boolean =>
  confirmed_at === null && confirm_by !== null && confirm_by <= timestamp(clock)

/** What the web requires in addition to the password; `ready` means that a session may start. */
export type SignInState = 'ready' | 'unconfirmed' | 'password_expired'

export function signInState(app: App, user: User): SignInState {
  const isAwaited = user.confirmed_at === null && user.confirm_by === null
  if (isAwaited || isLateToConfirm(app, user)) return 'unconfirmed'
  return hasExpiredPassword(app, user) ? 'password_expired' : 'ready'
}

export const hasExpiredPassword = (app: App, { password_expires_at: at }: User): boolean =>
  at !== null && at <= timestamp(app.clock)

export interface NewSession {
  readonly secret: string
  /** In seconds; absent if the browser should delete the cookie when it closes. */
  readonly maxAge?: number
}

export interface Browser {
  readonly address: string
  readonly userAgent: string | undefined
  /** The session that the browser had before. */
  readonly previous: string | null
}

const LONGEST_USER_AGENT = 255

/** Per user. Further sign-ins, by a program for example, end the oldest session. */
const MOST_SESSIONS = 100

/** Each sign-in creates a new session and ends the previous one of the browser. */
export async function startSession(app: App, user: User, browser: Browser): Promise<NewSession> {
  const { session_expire_delay: minutes } = await currentSettings(app)
  const now = timestamp(app.clock)
  const secret = randomHex()
  await transact(app, async (app) => {
    if (browser.previous) await endSession(app, browser.previous)
    await app.db
      .insertInto('sessions')
      .values({
        user_id: user.id,
        digest: digestOf(secret),
        ip_address: browser.address,
        user_agent: browser.userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
        expires_at: after(app.clock, minutes > 0 ? minutes * MINUTE : DAY),
        created_at: now,
      })
      .execute()
    await sql`delete from sessions where user_id = ${user.id} and id <= (
      select id from sessions where user_id = ${user.id} order by id desc limit 1 offset ${sql.lit(MOST_SESSIONS)})`.execute(
      app.db,
    )
    if (app.config.readOnly) return
    await app.db
      .updateTable('users')
      .set({
        last_sign_in_at: user.current_sign_in_at ?? now,
        current_sign_in_at: now,
        last_activity_on: today(app.clock),
      })
      .where('id', '=', user.id)
      .execute()
  })
  return minutes > 0 ? { secret, maxAge: minutes * 60 } : { secret }
}

export async function endSession(app: App, secret: string): Promise<void> {
  await app.db.deleteFrom('sessions').where('digest', '=', digestOf(secret)).execute()
}
