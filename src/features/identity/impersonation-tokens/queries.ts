import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import type { AccessToken } from '../tokens/model.ts'
import { findToken, inState, pageOfTokens, tokensOf, type TokenState } from '../tokens/queries.ts'
import { findUser } from '../users/queries.ts'
import { impersonationTokenPolicy } from './policy.ts'

/** `/users/:user_id/impersonation_tokens/:impersonation_token_id`; a personal token is not found here. */
export const impersonationToken = resource({
  name: 'Impersonation Token',
  params: z.object({ user_id: id, impersonation_token_id: id }),
  policy: impersonationTokenPolicy,
  async find(app, { user_id, impersonation_token_id }) {
    if (!(await findUser(app.db, user_id))) throw notFound('User')
    const token = await findToken(app.db, impersonation_token_id, 'impersonation')
    return token?.user_id === user_id ? { token } : null
  },
})

export function listImpersonationTokens(
  db: Db,
  user: User,
  state: TokenState | null,
  today: string,
  page: PageWish,
): Promise<Page<AccessToken>> {
  const all = tokensOf(db, 'impersonation').where('user_id', '=', user.id)
  return pageOfTokens(db, (state ? inState(all, state, today) : all).orderBy('id'), page)
}
