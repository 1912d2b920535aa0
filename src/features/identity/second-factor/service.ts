/**
 * Two-factor authentication: TOTP codes, passkeys (`../passkeys`) and recovery codes. It is enabled once the user has
 * shown a first code or passkey, and asked for when a password starts a session.
 */
import { randomBytes } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { Refusal, badParameter, forbidden } from '../../../errors.ts'
import { digestOf } from '../../../lib/crypto/secrets.ts'
import type { Db } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { isPassword } from '../passwords.ts'
import { dueSecondFactor } from './requirement.ts'
import { assertGuess, forgetGuesses, tooManyGuesses, type Guess } from '../throttling/backoff.ts'
import { guess } from '../throttling/guesses.ts'

const SECRET_BYTES = 20
const STEP_MS = 30_000
/** Accepts one step before and after, for inaccurate clocks. */
const WINDOW = 1
const RECOVERY_CODES = 10
const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789'
const CODE_LENGTH = 16

const isOnAlready = () => new Refusal('conflict', 'Two-factor authentication is already enabled')
const WRONG_CODE = 'Invalid code, or the code was already used'
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

/** A secret counts only after the user has shown a first code. */
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

/** A person at an unlocked browser must know the password or have the second factor. */
export async function assertPresent(app: App, user: User, { password, code }: Proof): Promise<void> {
  if (code && user.two_factor_enabled) return assertSecondFactor(app, user, code)
  if (!password) throw badParameter('password is missing')
  if (user.password_digest === null || user.ghost) throw forbidden('Two-factor authentication requires a password')
  await assertOwnSecret(app, user, 'Invalid password', () => isPassword(password, user.password_digest))
}

/** Creates a new secret, which is pending until its first code. */
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

/** Enables it. Open sessions stay; new sessions ask for the second factor. */
export async function confirmSecondFactor(app: App, user: User, code: string): Promise<string[]> {
  if (await hasTotp(app.db, user)) throw isOnAlready()
  await assertGuess(app, ownGuess(user))
  return transact(app, async (app) => {
    if (!(await takeCode(app, user, code, { isFirst: true }))) throw wrongCode()
    await forgetGuesses(app, ownGuess(user))
    return switchOn(app, user)
  })
}

/** Creates recovery codes if the user has none yet. Call it in the transaction that adds a factor. */
export async function switchOn(app: TransactionApp, user: User): Promise<string[]> {
  const on = await app.db
    .updateTable('users')
    .set({ two_factor_enabled: true, second_factor_asked_at: null })
    .where('id', '=', user.id)
    .where('two_factor_enabled', '=', false)
    .executeTakeFirst()
  return Number(on.numUpdatedRows) > 0 ? replaceRecoveryCodes(app, user) : []
}

/** A user who has only passkeys can show one of the remaining recovery codes. */
export async function renewRecoveryCodes(app: App, user: User, proof: Proof): Promise<string[]> {
  assertEnabled(user)
  await assertPresent(app, user, (await hasTotp(app.db, user)) ? { code: proof.code || '-' } : proof)
  return transact(app, (app) => replaceRecoveryCodes(app, user))
}

/** For users who connect by SSH: the key of the account is the proof. */
export const renewRecoveryCodesByKey = (app: App, user: User): Promise<string[]> =>
  transact(app, (app) => replaceRecoveryCodes(app, user))

/** Removes TOTP; passkeys stay. */
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

/** Removing the last factor deletes the recovery codes. Call it in the transaction that removed a factor. */
export async function switchOffUnlessNeeded({ db }: TransactionApp, { id }: Pick<User, 'id'>): Promise<void> {
  const passkey = await db.selectFrom('passkeys').select('id').where('user_id', '=', id).executeTakeFirst()
  if (passkey || (await hasTotp(db, { id }))) return
  await db.deleteFrom('recovery_codes').where('user_id', '=', id).execute()
  await db.updateTable('users').set({ two_factor_enabled: false }).where('id', '=', id).execute()
}

/**
 * For administrators: removes all factors of a user who lost the device and the codes. Returns false if there was none.
 */
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

/** Guesses by a caller who already has a session or token. Nobody else can use up these guesses. */
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

/** A TOTP code or a recovery code; each is accepted once. */
const takeEither = async (app: App, user: User, code: string) =>
  (await takeCode(app, user, code)) || (await takeRecoveryCode(app, user, code))

/** After the password. Recovery codes are too long to guess, so only the network of the caller is limited. */
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
  // Of two concurrent uses of one code, only one succeeds.
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

/** The alphabet has 32 letters, so each byte gives one without bias. */
const newRecoveryCode = () => Array.from(randomBytes(CODE_LENGTH), (byte) => LETTERS[byte % LETTERS.length]).join('')
