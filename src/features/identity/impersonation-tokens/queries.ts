import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import type { AccessToken } from '../tokens/model.ts'
import { findToken, inState, pageOfTokens, tokensOf, type TokenState } from '../tokens/queries.ts'
import { userByUserId } from '../users/queries.ts'

/** Finds impersonation tokens only, never personal access tokens. */
export const impersonationToken = child(userByUserId, {
  name: 'Impersonation Token',
  key: 'token',
  params: { impersonation_token_id: id },
  async find(app, { user }, { impersonation_token_id }) {
    const token = await findToken(app.db, impersonation_token_id, 'impersonation')
    return token?.user_id === user.id ? token : null
  },
})

export function listImpersonationTokens(
  db: Db,
  user: User,
  state: TokenState | null,
  today: string,
  page: PageRequest,
): Promise<Page<AccessToken>> {
  const all = tokensOf(db, 'impersonation').where('user_id', '=', user.id)
  return pageOfTokens(db, (state ? inState(all, state, today) : all).orderBy('id'), page)
}
