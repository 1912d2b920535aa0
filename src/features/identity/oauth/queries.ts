import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { withUser } from '../users/queries.ts'
import { applicationPolicy } from './policy.ts'
import { toScopes } from './scopes.ts'

export type Application = Row<'oauth_applications'>
export type Grant = Row<'oauth_grants'>
export type OAuthToken = Row<'oauth_tokens'>

export const application = resource({
  params: z.object({ id }),
  policy: applicationPolicy,
  async find(app, { id }, viewer) {
    const found = await instanceApplications(app.db).where('id', '=', id).executeTakeFirst()
    return found && { application: found, viewer }
  },
})

/** Without applications that users registered for themselves. */
const instanceApplications = (db: Db) => db.selectFrom('oauth_applications').selectAll().where('owner_id', 'is', null)

export const listApplications = (db: Db): Promise<Application[]> => instanceApplications(db).orderBy('id').execute()

const UID_FORM = /^[0-9a-f]{64}$/

export async function findApplication(db: Db, uid: string): Promise<Application | null> {
  if (!UID_FORM.test(uid)) return null
  const found = await db.selectFrom('oauth_applications').selectAll().where('uid', '=', uid).executeTakeFirst()
  return found ?? null
}

const userByToken = hotQuery((db, p: { digest: string }) =>
  db
    .selectFrom('oauth_tokens')
    .innerJoin('users', 'users.id', 'oauth_tokens.user_id')
    .select(['oauth_tokens.id', 'oauth_tokens.scopes', 'oauth_tokens.last_used_at'])
    .select(['oauth_tokens.expires_at', 'oauth_tokens.revoked_at'])
    .select(['users.id as user_id', 'users.version as user_version'])
    .where('oauth_tokens.digest', '=', p.digest),
)

/** With its user. A token of the client itself has no user and is not found. */
export const findTokenWithUser = (db: Db, digest: string) => withUser(db, userByToken(db, { digest }))

const tokensWithClient = (db: Db) =>
  db
    .selectFrom('oauth_tokens')
    .leftJoin('oauth_applications', 'oauth_applications.id', 'oauth_tokens.application_id')
    .selectAll('oauth_tokens')
    .select(['oauth_applications.uid as client_uid', 'oauth_applications.confidential as client_confidential'])

export async function findToken(db: Db, digest: string) {
  return (await tokensWithClient(db).where('oauth_tokens.digest', '=', digest).executeTakeFirst()) ?? null
}

export async function findTokenByEither(db: Db, digest: string) {
  const found = await tokensWithClient(db)
    .where((eb) => eb.or([eb('oauth_tokens.digest', '=', digest), eb('oauth_tokens.refresh_digest', '=', digest)]))
    .executeTakeFirst()
  return found ?? null
}

export const isActive = (app: App, { revoked_at, expires_at }: Pick<OAuthToken, 'revoked_at' | 'expires_at'>) =>
  revoked_at === null && (expires_at === null || expires_at > timestamp(app.clock))

/** Whether the user has already granted this application all these scopes. */
export async function hasGranted(app: App, user: User, { id }: Application, scopes: readonly string[]) {
  const tokens = await app.db
    .selectFrom('oauth_tokens')
    .selectAll()
    .where('user_id', '=', user.id)
    .where('application_id', '=', id)
    .where('revoked_at', 'is', null)
    .execute()
  return tokens.some((token) => {
    const granted: readonly string[] = toScopes(token.scopes)
    return isActive(app, token) && scopes.every((scope) => granted.includes(scope))
  })
}
