import { z } from 'zod'
import { assertRules, filled, limited, notEmpty, rule } from '../../../api/rules.ts'
import { timestamp, today } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { Refusal, forbidden } from '../../../errors.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { lockCredentials } from '../sessions/ending.ts'
import { expiryOf } from './expiry.ts'
import type { AccessToken, TokenKind } from './model.ts'
import { isActive } from './policy.ts'
import { scopesFrom } from './queries.ts'

const ROTATED_FOR_DAYS = 7

/** A token and its value, which is known only while the token is created. */
export interface IssuedToken {
  readonly token: AccessToken
  readonly secret: string
}

export interface TokenInput {
  name: string
  scopes: readonly string[]
  description?: string | null
  expires_at?: string | null
}

/** The account's own token, created with the account. */
export async function createPrivateToken(app: App, user: User, secret = randomToken()): Promise<void> {
  await insertToken(app, user.id, 'private', { name: 'private token', scopes: [] }, secret)
}

/** The old token stops working at once. Returns the new one. */
export async function replacePrivateToken(app: App, user: User): Promise<string> {
  const secret = randomToken()
  await transact(app, async (app) => {
    const change = { digest: digestOf(secret), sealed: app.vault.seal(secret), updated_at: timestamp(app.clock) }
    const replaced = await app.db
      .updateTable('access_tokens')
      .set(change)
      .where('user_id', '=', user.id)
      .where('kind', '=', 'private')
      .returning(['id', 'user_id'])
      .executeTakeFirst()
    if (!replaced) throw forbidden() // the ghost has none
    await emit(app, 'token.revoked', replaced)
  })
  return secret
}

/** `grantable` are the scopes that the caller may grant; for `usualDays` see `expiry.ts`. */
export async function createToken(
  app: App,
  user: User,
  kind: 'personal' | 'impersonation',
  input: TokenInput,
  grantable: readonly string[],
  usualDays: number | null = null,
): Promise<IssuedToken> {
  assertRules(tokenRules(grantable), input)
  const expires_at = await expiryOf(app, input.expires_at, usualDays)
  if (user.ghost) throw forbidden()
  return issueToken(app, user.id, kind, { ...input, expires_at })
}

/** Creates the token and emits the event. The caller has checked the input. */
export async function issueToken(
  app: App,
  userId: number,
  kind: 'personal' | 'impersonation',
  input: TokenInput & { family_id?: number },
): Promise<IssuedToken> {
  const { personal_access_token_prefix: prefix } = await currentSettings(app)
  const secret = prefix + randomToken()
  return transact(app, async (app) => {
    const token = await insertToken(app, userId, kind, input, secret)
    await emit(app, 'token.created', { id: token.id, user_id: userId })
    return { token, secret }
  })
}

function insertToken(
  app: App,
  userId: number,
  kind: TokenKind,
  input: TokenInput & { family_id?: number },
  secret: string,
): Promise<AccessToken> {
  const now = timestamp(app.clock)
  return app.db
    .insertInto('access_tokens')
    .values({
      user_id: userId,
      kind,
      name: input.name,
      description: input.description ?? null,
      digest: digestOf(secret),
      sealed: kind === 'personal' ? null : app.vault.seal(secret),
      scopes: [...new Set(input.scopes)].join(' '),
      expires_at: input.expires_at ?? null,
      revoked: false,
      family_id: input.family_id ?? null,
      rotated: false,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

const tokenRules = (grantable: readonly string[]) =>
  z.object({
    name: filled(z.string(), 255),
    description: limited(z.string(), 255).nullish(),
    scopes: notEmpty(z.array(z.string())).check(
      rule((scopes) => scopes.every((scope) => grantable.includes(scope)), 'can only contain available scopes'),
    ),
  })

/** Revokes a token and creates its successor, with the same rights and a new expiry date. */
export async function rotateToken(
  app: App,
  token: AccessToken,
  expiresAt: string | null | undefined,
): Promise<IssuedToken> {
  const { id, user_id, name, description } = token
  if (!isActive(token, today(app.clock))) throw inactive(token)
  const expires_at = await expiryOf(app, expiresAt, ROTATED_FOR_DAYS)
  return transact(app, async (app) => {
    await lockCredentials(app, user_id)
    const [ended] = await revocation(app, { rotated: true }).where('id', '=', id).execute()
    // Of two concurrent rotations, only the first finds a token to revoke.
    if (!ended) throw inactive({ revoked: true })
    await emit(app, 'token.revoked', ended)
    return issueToken(app, user_id, 'personal', {
      name,
      description,
      scopes: scopesFrom(token.scopes),
      expires_at,
      family_id: token.family_id ?? id,
    })
  })
}

const inactive = ({ revoked }: Pick<AccessToken, 'revoked'>) =>
  new Refusal('bad_request', revoked ? 'token already revoked' : 'token already expired')

/** Revokes a token. A token that is already revoked stays unchanged. */
export async function revokeToken(app: App, { id }: AccessToken): Promise<void> {
  await transact(app, async (app) => {
    for (const ended of await revocation(app).where('id', '=', id).execute()) await emit(app, 'token.revoked', ended)
  })
}

/** Revokes a whole chain of rotations, given by its first token. */
export async function revokeFamily(app: App, familyId: number): Promise<void> {
  const family = await app.db
    .selectFrom('access_tokens')
    .selectAll()
    .where((eb) => eb.or([eb('id', '=', familyId), eb('family_id', '=', familyId)]))
    .where('revoked', '=', false)
    .execute()
  // Usually all are revoked already, so repeated use of a stolen token causes no writes.
  for (const token of family) await revokeToken(app, token)
}

const revocation = (app: App, change: { rotated?: true } = {}) =>
  app.db
    .updateTable('access_tokens')
    .set({ revoked: true, updated_at: timestamp(app.clock), ...change })
    .where('revoked', '=', false)
    .returning(['id', 'user_id'])

/** Revokes all tokens of a kind; returns their number. */
export async function revokeTokensOf(app: App, { id }: User, kind: 'personal' | 'impersonation'): Promise<number> {
  return transact(app, async (app) => {
    const ended = await revocation(app).where('user_id', '=', id).where('kind', '=', kind).execute()
    for (const token of ended) await emit(app, 'token.revoked', token)
    return ended.length
  })
}

export async function removeTokensOf({ db }: App, { id }: User): Promise<void> {
  await db.deleteFrom('access_tokens').where('user_id', '=', id).execute()
}
