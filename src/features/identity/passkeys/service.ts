/**
 * Passkeys (WebAuthn): the private key never leaves the device, which signs challenges only for pages of our own
 * address. Passkeys are a second factor, and replace the password if the device verifies its user.
 */
import type { AuthenticatorTransport } from '@simplewebauthn/server'
import { z } from 'zod'
import { assertRules, limited } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { lazily } from '../../../lib/async/lazily.ts'
import type { Row } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { assertPresent, switchOffUnlessNeeded, switchOn, type Proof } from '../second-factor/service.ts'
import { findUser } from '../users/queries.ts'
import { challengeTicket, newChallenge, takeChallenge } from './challenges.ts'
import type { Registered, Signed } from './credential.ts'
import { passkeysOf } from './queries.ts'

const MOST = 50
const passkeyRules = z.object({ name: limited(z.string(), 255) })

/** Large and rarely needed: imported on first use. */
const library = lazily(() => import('@simplewebauthn/server'))

/** Ed25519, ECDSA and RSA, which every Node can verify. */
const ALGORITHMS = [-8, -7, -257]

/** The relying party that devices bind their keys to. */
function originOf({ url }: App) {
  const { origin, hostname } = new URL(url)
  return { expectedOrigin: origin, expectedRPID: hostname }
}

const refused = () => new Refusal('bad_request', 'Passkey not accepted. Try again.')

export interface PasskeyChallenge {
  readonly ticket: string
  /** Options for the WebAuthn API of the browser, as JSON. */
  readonly options: Record<string, unknown>
}

const transportsOf = ({ transports }: Row<'passkeys'>) => JSON.parse(transports) as AuthenticatorTransport[]

const knownOf = (passkeys: readonly Row<'passkeys'>[]) =>
  passkeys.map((one) => ({ id: one.credential_id, transports: transportsOf(one) }))

export async function beginPasskey(app: App, user: User, proof: Proof): Promise<PasskeyChallenge> {
  await assertPresent(app, user, proof)
  const known = await passkeysOf(app.db, user).execute()
  if (known.length >= MOST) throw new Refusal('conflict', `The limit of ${MOST} passkeys is reached`)
  const { generateRegistrationOptions } = await library()
  const { hostname } = new URL(app.url)
  const options = await generateRegistrationOptions({
    rpName: hostname,
    rpID: hostname,
    challenge: newChallenge(),
    // Stable per user, and reveals nothing about the user.
    userID: new Uint8Array(Buffer.from(app.vault.sign('passkey user', String(user.id)), 'base64url')),
    userName: user.username,
    userDisplayName: user.name,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: knownOf(known),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
  })
  const ticket = challengeTicket(app, 'register', { challenge: options.challenge, user: user.id })
  return { ticket, options: { ...options } }
}

export interface NewPasskey {
  readonly ticket: string
  readonly name: string
  readonly credential: Registered
}

/** Returns recovery codes if the user had none. */
export async function registerPasskey(
  app: App,
  user: User,
  { ticket, name, credential }: NewPasskey,
): Promise<{ passkey: Row<'passkeys'>; codes: string[] }> {
  assertRules(passkeyRules, { name: name.trim() })
  const challenge = await takeChallenge(app, 'register', { ticket, user: user.id })
  const found = challenge && (await readRegistration(app, credential, challenge))
  if (!found) throw refused()
  const created = transact(app, async (app) => {
    const passkey = await app.db
      .insertInto('passkeys')
      .values({ user_id: user.id, name: name.trim(), ...found, created_at: timestamp(app.clock), last_used_at: null })
      .returningAll()
      .executeTakeFirstOrThrow()
    return { passkey, codes: await switchOn(app, user) }
  })
  return unlessTaken(created, 'passkeys', [['credential_id']], refused)
}

async function readRegistration(app: App, { response, ...rest }: Registered, expectedChallenge: string) {
  const { verifyRegistrationResponse } = await library()
  const given = { ...rest, response: { ...response, transports: [] }, clientExtensionResults: {} }
  const input = {
    response: given,
    expectedChallenge,
    ...originOf(app),
    requireUserVerification: false,
    supportedAlgorithmIDs: ALGORITHMS,
  }
  const { registrationInfo: info } = await verifyRegistrationResponse(input).catch(() => ({ registrationInfo: null }))
  if (!info) return null
  const { id, publicKey, counter } = info.credential
  return {
    credential_id: id,
    public_key: Buffer.from(publicKey).toString('base64url'),
    counter,
    transports: JSON.stringify(response.transports ?? []),
  }
}

export async function renamePasskey({ db }: App, { id }: Row<'passkeys'>, name: string): Promise<Row<'passkeys'>> {
  assertRules(passkeyRules, { name: name.trim() })
  const renamed = await db
    .updateTable('passkeys')
    .set({ name: name.trim() })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst()
  if (!renamed) throw notFound('Passkey') // deleted in the meantime
  return renamed
}

export async function deletePasskey(app: App, user: User, { id }: Row<'passkeys'>, proof: Proof): Promise<void> {
  await assertPresent(app, user, proof)
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('passkeys').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Passkey') // deleted in the meantime
    await switchOffUnlessNeeded(app, user)
  })
}

/** The challenge that a device must sign: after the password (with `user`), or instead of it (null). */
export async function askForPasskey(app: App, user: User | null): Promise<PasskeyChallenge> {
  const { generateAuthenticationOptions } = await library()
  const options = await generateAuthenticationOptions({
    rpID: new URL(app.url).hostname,
    challenge: newChallenge(),
    allowCredentials: user ? knownOf(await passkeysOf(app.db, user).execute()) : [],
    userVerification: user ? 'preferred' : 'required',
  })
  const made = { challenge: options.challenge, user: user?.id ?? null }
  return { ticket: challengeTicket(app, user ? 'second step' : 'sign in', made), options: { ...options } }
}

/**
 * The owner of the passkey; null if the signature is wrong. Without a `user`, the device itself must have verified its
 * user.
 */
export async function takePasskey(
  app: App,
  user: User | null,
  { ticket, credential }: { ticket: string; credential: Signed },
): Promise<User | null> {
  const challenge = await takeChallenge(app, user ? 'second step' : 'sign in', { ticket, user: user?.id ?? null })
  if (!challenge) return null
  const passkey = await app.db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', credential.id)
    .executeTakeFirst()
  if (!passkey || (user && passkey.user_id !== user.id)) return null
  const counter = await readSignature(app, passkey, credential, { challenge, isAlone: user === null })
  if (counter === null || !(await noteUse(app, passkey, counter))) return null
  return (await findUser(app.db, passkey.user_id)) ?? null
}

/** The device's use counter; null if the signature is wrong, or the counter went back, which indicates a copied key. */
async function readSignature(
  app: App,
  passkey: Row<'passkeys'>,
  { response, ...rest }: Signed,
  { challenge, isAlone }: { challenge: string; isAlone: boolean },
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library()
  const { userHandle, ...signed } = response
  const known = {
    id: passkey.credential_id,
    publicKey: new Uint8Array(Buffer.from(passkey.public_key, 'base64url')),
    counter: passkey.counter,
  }
  const verified = await verifyAuthenticationResponse({
    response: {
      ...rest,
      response: { ...signed, ...(userHandle && { userHandle }) },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    ...originOf(app),
    credential: known,
    requireUserVerification: isAlone,
  }).catch(() => null)
  return verified?.verified ? verified.authenticationInfo.newCounter : null
}

/** Returns false if the passkey was used elsewhere in the meantime. */
async function noteUse(
  { db, clock }: App,
  { id, counter: before }: Row<'passkeys'>,
  counter: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeys')
    .set({ counter, last_used_at: timestamp(clock) })
    .where('id', '=', id)
    .where('counter', '=', before)
    .executeTakeFirst()
  return Number(numUpdatedRows) > 0
}
