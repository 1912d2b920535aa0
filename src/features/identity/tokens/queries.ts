import type { Scope } from '../../../api/credentials.ts'
import type { App, User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'

export type AccessToken = Row<'access_tokens'>

const byDigest = hotQuery((db, p: { digest: string }) =>
  db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .selectAll('users')
    .select([
      'access_tokens.id as token_id',
      'access_tokens.kind as token_kind',
      'access_tokens.scopes as token_scopes',
      'access_tokens.expires_at as token_expires_at',
      'access_tokens.revoked as token_revoked',
      'access_tokens.rotated as token_rotated',
      'access_tokens.last_used_at as token_last_used_at',
    ])
    .where('access_tokens.digest', '=', p.digest),
)

export async function findTokenWithUser(db: Db, digest: string) {
  const [found] = await byDigest(db, { digest })
  return found ?? null
}

export const scopesFrom = (text: string): Scope[] => text.split(' ').filter(Boolean) as Scope[]

export async function privateTokenOf(app: App, user: User): Promise<string | null> {
  const token = await app.db
    .selectFrom('access_tokens')
    .select('sealed')
    .where('user_id', '=', user.id)
    .where('kind', '=', 'private')
    .executeTakeFirst()
  return token?.sealed ? app.vault.open(token.sealed) : null
}
