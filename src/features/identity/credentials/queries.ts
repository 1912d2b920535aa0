import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { UserScope } from '../user-scopes.ts'

const sessionsOf = ({ db, clock }: App, user: User) =>
  db.selectFrom('sessions').selectAll().where('user_id', '=', user.id).where('expires_at', '>', timestamp(clock))

export const session = ({ resource }: UserScope) =>
  child(resource, {
    name: 'Session',
    key: 'session',
    params: { session_id: id },
    find: (app, { owner }, { session_id }) => sessionsOf(app, owner).where('id', '=', session_id).executeTakeFirst(),
  })

export const listSessions = (app: App, owner: User, page: PageRequest): Promise<Page<Row<'sessions'>>> =>
  pageOfQuery(sessionsOf(app, owner).orderBy('id', 'desc'), page)

/** Tokens that are still valid or can be refreshed. */
const oauthTokensOf = ({ db, clock }: App, user: User) =>
  db
    .selectFrom('oauth_tokens')
    .leftJoin('oauth_applications', 'oauth_applications.id', 'oauth_tokens.application_id')
    .selectAll('oauth_tokens')
    .select('oauth_applications.name as application_name')
    .where('oauth_tokens.user_id', '=', user.id)
    .where('oauth_tokens.revoked_at', 'is', null)
    // An expired token can still be refreshed.
    .where((eb) =>
      eb.or([
        eb('oauth_tokens.expires_at', 'is', null),
        eb('oauth_tokens.expires_at', '>', timestamp(clock)),
        eb('oauth_tokens.refresh_digest', 'is not', null),
      ]),
    )

export type OwnedOAuthToken = Row<'oauth_tokens'> & { readonly application_name: string | null }

export const oauthToken = ({ resource }: UserScope) =>
  child(resource, {
    name: 'OAuth Token',
    key: 'token',
    params: { oauth_token_id: id },
    find: (app, { owner }, { oauth_token_id }) =>
      oauthTokensOf(app, owner).where('oauth_tokens.id', '=', oauth_token_id).executeTakeFirst(),
  })

export const listOAuthTokens = (app: App, owner: User, page: PageRequest): Promise<Page<OwnedOAuthToken>> =>
  pageOfQuery(oauthTokensOf(app, owner).orderBy('oauth_tokens.id', 'desc'), page)
