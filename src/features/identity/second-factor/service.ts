/**
 * A second factor beside the password: codes that change every half minute (TOTP), passkeys (`../passkeys`), and codes
 * for the day the device is lost. It is on once a first one was shown, and asked for where a password begins a session.
 */
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, badParameter, forbidden } from '../../../errors.ts'
import { digestOf } from '../../../lib/secrets.ts'
import type { Db } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { isPassword } from '../passwords.ts'
import { dueSecondFactor } from './requirement.ts'
import { assertGuess, forgetGuesses, tooManyGuesses, type Guess } from '../sessions/backoff.ts'
import { guess } from '../sessions/guesses.ts'

const SECRET_BYTES = 20
const STEP_MS = 30_000
/** One step before and after, for clocks that go wrong. */
const WINDOW = 1
const RECOVERY_CODES = 10
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const CODE_LENGTH = 16

const isOnAlready = () => new Refusal('conflict', 'The second factor is on already')
const WRONG_CODE = 'The code is wrong or was used before'
const wrongCode = () => new Refusal('bad_request', WRONG_CODE)

const totpOf = (secret: string) => new TOTP({ secret: Secret.fromBase32(secret), period: STEP_MS / 1000 })

export async function secondFactorOf(app: App, user: User) {
  const { db } = app
  const due = await dueSecondFactor(app, user)
  const codes = await db
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', user.id)
    .executeTakeFirstOrThrow()
  return {
    enabled: user.two_factor_enabled,
    totp_enabled: await hasTotp(db, user),
    recovery_codes_left: user.two_factor_enabled ? Number(codes.count) : 0,
    required_until: due?.until ?? null,
    required_by: due?.group ?? null,
  }
}

/** Until a first code was shown, the secret asks nobody for anything. */
async function hasTotp(db: Db, { id }: Pick<User, 'id'>): Promise<boolean> {
  const found = await db
    .selectFrom('second_factors')
    .select('id')
    .where('user_id', '=', id)
    .where('last_step', '>', 0)
    .executeTakeFirst()
  return found !== undefined
}

export interface Proof {
  readonly password?: string | null | undefined
  readonly code?: string | null | undefined
}

/** Whoever merely sits at an open browser must know the password, or hold the second factor. */
export async function assertPresent(app: App, user: User, { password, code }: Proof): Promise<void> {
  if (code && user.two_factor_enabled) return assertSecondFactor(app, user, code)
  if (!password) throw badParameter('password is missing')
  if (user.password_digest === null || user.ghost)
    throw forbidden('Without a password there is nothing to be second to')
  await assertOwnSecret(app, user, 'The password is wrong', () => isPassword(password, user.password_digest))
}

/** A new secret that waits for its first code. */
export async function beginSecondFactor(app: App, user: User, password: string) {
  if (await hasTotp(app.db, user)) throw isOnAlready()
  await assertPresent(app, user, { password })
  const secret = new Secret({ buffer: new Uint8Array(randomBytes(SECRET_BYTES)).buffer }).base32
  const row = {
    secret_sealed: app.vault.seal(secret),
    last_step: 0,
    created_at: timestamp(app.clock),
  }
  await app.db
    .insertInto('second_factors')
    .values({ user_id: user.id, ...row })
    .onConflict((c) => c.column('user_id').doUpdateSet(row))
    .execute()
  const { hostname } = new URL(app.url)
  const url = new TOTP({ issuer: hostname, label: user.username, secret: Secret.fromBase32(secret) }).toString()
  return { secret, otpauth_url: url }
}

/** On from now: sessions that are open stay, new ones ask for it. */
export async function confirmSecondFactor(app: App, user: User, code: string): Promise<string[]> {
  if (await hasTotp(app.db, user)) throw isOnAlready()
  await assertGuess(app, ownGuess(user))
  return transact(app, async (app) => {
    if (!(await takeCode(app, user, code, { isFirst: true }))) throw wrongCode()
    await forgetGuesses(app, ownGuess(user))
    return switchOn(app, user)
  })
}

/** Codes for the day the device is lost, for whoever has none yet. In the transaction that adds a factor. */
export async function switchOn(app: App, user: User): Promise<string[]> {
  const on = await app.db
    .updateTable('users')
    .set({ two_factor_enabled: true, second_factor_asked_at: null })
    .where('id', '=', user.id)
    .where('two_factor_enabled', '=', false)
    .executeTakeFirst()
  return Number(on.numUpdatedRows) > 0 ? replaceRecoveryCodes(app, user) : []
}

/** Whoever has passkeys alone has no code to show but those that are left. */
export async function renewRecoveryCodes(app: App, user: User, proof: Proof): Promise<string[]> {
  assertEnabled(user)
  await assertPresent(app, user, (await hasTotp(app.db, user)) ? { code: proof.code || '-' } : proof)
  return transact(app, (app) => replaceRecoveryCodes(app, user))
}

/** By the way that needs no web: whoever holds a key of the account. */
export const renewRecoveryCodesByKey = (app: App, user: User): Promise<string[]> =>
  transact(app, (app) => replaceRecoveryCodes(app, user))

/** Codes of the device end; passkeys stay. */
export async function endSecondFactor(app: App, user: User, code: string): Promise<void> {
  assertEnabled(user)
  if (!(await hasTotp(app.db, user))) throw noFactor()
  await assertSecondFactor(app, user, code)
  await removeTotp(app, user)
}

export const removeTotp = (app: App, user: Pick<User, 'id'>): Promise<void> =>
  transact(app, async (app) => {
    await app.db.deleteFrom('second_factors').where('user_id', '=', user.id).execute()
    await switchOffUnlessNeeded(app, user)
  })

/** The last factor takes the recovery codes with it. In the transaction that removed one. */
export async function switchOffUnlessNeeded({ db }: App, { id }: Pick<User, 'id'>): Promise<void> {
  const passkey = await db.selectFrom('passkeys').select('id').where('user_id', '=', id).executeTakeFirst()
  if (passkey || (await hasTotp(db, { id }))) return
  await db.deleteFrom('recovery_codes').where('user_id', '=', id).execute()
  await db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', id).execute()
}

/** By an administrator, all of them: for whoever lost the device and the codes. False where there is none. */
export async function removeSecondFactors(app: App, { id }: Pick<User, 'id'>): Promise<boolean> {
  return transact(app, async ({ db }) => {
    await db.deleteFrom('recovery_codes').where('user_id', '=', id).execute()
    await db.deleteFrom('second_factors').where('user_id', '=', id).execute()
    await db.deleteFrom('passkeys').where('user_id', '=', id).execute()
    const off = await db
      .updateTable('users')
      .set({ two_factor_enabled: false })
      .where('id', '=', id)
      .where('two_factor_enabled', '=', true)
      .executeTakeFirst()
    return Number(off.numUpdatedRows) > 0
  })
}

/** By the one who has a session or a token already; nobody else can use these up. */
export const ownGuess = ({ id }: Pick<User, 'id'>): Guess => ({ key: `own secret ${id}`, batch: 10 })

async function assertOwnSecret(app: App, user: User, fault: string, isRight: () => Promise<boolean>): Promise<void> {
  await assertGuess(app, ownGuess(user))
  if (!(await isRight())) throw new Refusal('bad_request', fault)
  await forgetGuesses(app, ownGuess(user))
}

const noFactor = () => new Refusal('not_found', '404 Second factor Not Found')

function assertEnabled(user: User): void {
  if (!user.two_factor_enabled) throw noFactor()
}

const assertSecondFactor = (app: App, user: User, code: string): Promise<void> =>
  assertOwnSecret(app, user, WRONG_CODE, () => takeEither(app, user, code))

/** A code of the device, or one for the day it is lost; each is taken once. */
const takeEither = async (app: App, user: User, code: string) =>
  (await takeCode(app, user, code)) || (await takeRecoveryCode(app, user, code))

/** After the password. Nobody guesses recovery codes: only the network of who tries is held to a number of them. */
export async function isSecondFactor(app: App, user: User, code: string, address: string): Promise<boolean> {
  const made = await guess(app, 'code', user, address, { onlyByNetwork: !isDeviceCode(code) })
  if (typeof made === 'number') throw tooManyGuesses(made)
  const isTaken = await takeEither(app, user, code)
  if (isTaken) await made.forget()
  return isTaken
}

const withoutSpaces = (code: string) => code.replaceAll(/\s/g, '')
const isDeviceCode = (code: string) => /^\d{6}$/.test(withoutSpaces(code))

async function takeCode(app: App, { id }: User, code: string, { isFirst = false } = {}): Promise<boolean> {
  if (!isDeviceCode(code)) return false
  const token = withoutSpaces(code)
  const found = await app.db
    .selectFrom('second_factors')
    .select('secret_sealed')
    .where('user_id', '=', id)
    .where('last_step', isFirst ? '=' : '>', 0)
    .executeTakeFirst()
  if (!found) return false
  const now = app.clock.now().getTime()
  const delta = totpOf(app.vault.open(found.secret_sealed)).validate({ token, timestamp: now, window: WINDOW })
  if (delta === null) return false
  const step = Math.floor(now / STEP_MS) + delta
  // Of two who show the same code at once, one is let in.
  const { numUpdatedRows } = await app.db
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('user_id', '=', id)
    .where('last_step', '<', step)
    .executeTakeFirst()
  return Number(numUpdatedRows) > 0
}

async function takeRecoveryCode({ db }: App, { id }: User, code: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('recovery_codes')
    .where('user_id', '=', id)
    .where('secret_digest', '=', digestOf(code.trim().toLowerCase()))
    .executeTakeFirst()
  return Number(numDeletedRows) > 0
}

async function replaceRecoveryCodes({ db, clock }: App, { id }: User): Promise<string[]> {
  await db.deleteFrom('recovery_codes').where('user_id', '=', id).execute()
  const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
  const created_at = timestamp(clock)
  await db
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: id, secret_digest: digestOf(code), created_at })))
    .execute()
  return codes
}

/** Of 32 letters, so each byte gives one without favour. */
const newRecoveryCode = () => Array.from(randomBytes(CODE_LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('')
