import type { Scope } from '../../../api/credentials.ts'
import { DAY, after, timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import { transact } from '../../../store/transact.ts'
import type { Application, OAuthToken } from './queries.ts'

/** Tokens are valid until they are revoked. A number of milliseconds here would limit their lifetime. */
const LIFETIME: number | null = null

export interface TokenInput {
  readonly application: Pick<Application, 'id'> | null
  readonly user: User | null
  readonly scopes: readonly Scope[]
  /** The authorization code at the start of the chain; all refreshed tokens refer to it. */
  readonly grantId?: number | null
  readonly refreshable: boolean
}

export interface TokenAnswer {
  access_token: string
  token_type: 'bearer'
  expires_in?: number
  refresh_token?: string
  scope: string
  created_at: number
  id_token?: string
}

export const epoch = (moment: string): number => Math.floor(Date.parse(moment) / 1000)

export async function issueToken(app: App, input: TokenInput): Promise<TokenAnswer> {
  const secret = randomHex()
  const refresh = input.refreshable ? randomHex() : null
  const created_at = timestamp(app.clock)
  const scope = input.scopes.join(' ')
  await app.db
    .insertInto('oauth_tokens')
    .values({
      application_id: input.application?.id ?? null,
      user_id: input.user?.id ?? null,
      grant_id: input.grantId ?? null,
      digest: digestOf(secret),
      refresh_digest: refresh && digestOf(refresh),
      scopes: scope,
      expires_at: LIFETIME === null ? null : after(app.clock, LIFETIME),
      revoked_at: null,
      created_at,
    })
    .execute()
  return {
    access_token: secret,
    token_type: 'bearer',
    ...(LIFETIME !== null && { expires_in: LIFETIME / 1000 }),
    ...(refresh && { refresh_token: refresh }),
    scope,
    created_at: epoch(created_at),
  }
}

/** Returns false if the token was already revoked, possibly by a concurrent request. */
export async function revokeToken(app: App, { id }: Pick<OAuthToken, 'id'>): Promise<boolean> {
  const revoked = await app.db
    .updateTable('oauth_tokens')
    .set({ revoked_at: timestamp(app.clock) })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return revoked !== undefined
}

/**
 * A code or refresh token was used twice. One of the two callers is a thief, so all tokens of the chain are revoked.
 */
export async function revokeChain(app: App, grantId: number): Promise<void> {
  await app.db
    .updateTable('oauth_tokens')
    .set({ revoked_at: timestamp(app.clock) })
    .where('grant_id', '=', grantId)
    .where('revoked_at', 'is', null)
    .execute()
}

/** Revokes all OAuth tokens of a user, and deletes codes that were not exchanged yet. Returns the number of tokens. */
export async function revokeOAuthOf(app: App, { id }: Pick<User, 'id'>): Promise<number> {
  return transact(app, async (app) => {
    await dropCodesOf(app, id)
    const revoked = await revocationOf(app, id).returning('id').execute()
    return revoked.length
  })
}

/** Revokes tokens from the password grant, and codes that were not exchanged yet. */
export async function revokePasswordGrantsOf(app: App, { id }: Pick<User, 'id'>): Promise<void> {
  await dropCodesOf(app, id)
  await revocationOf(app, id).where('grant_id', 'is', null).execute()
}

const revocationOf = (app: App, userId: number) =>
  app.db
    .updateTable('oauth_tokens')
    .set({ revoked_at: timestamp(app.clock) })
    .where('user_id', '=', userId)
    .where('revoked_at', 'is', null)

/** Keeps used codes: the tokens of a chain refer to them. */
async function dropCodesOf({ db }: App, userId: number): Promise<void> {
  await db.deleteFrom('oauth_grants').where('user_id', '=', userId).where('used_at', 'is', null).execute()
}

/** Long enough to tell a late client that its token was revoked, and to detect the use of a stolen token. */
const REVOKED_TOKENS_KEPT = 30 * DAY

/** Deletes tokens and grants that are no longer needed. */
export async function purgeOAuth({ db, clock }: App): Promise<void> {
  await db.deleteFrom('oauth_tokens').where('revoked_at', '<', after(clock, -REVOKED_TOKENS_KEPT)).execute()
  // Keep a grant while tokens refer to it.
  await db
    .deleteFrom('oauth_grants')
    .where('expires_at', '<=', timestamp(clock))
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('oauth_tokens').select('id').whereRef('grant_id', '=', 'oauth_grants.id'))),
    )
    .execute()
}
