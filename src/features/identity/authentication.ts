/** Finds the user behind a credential, for the API, git and the web alike. */
import type { Identity, PresentedCredential } from '../../api/credentials.ts'
import type { Authentication } from '../../api/run.ts'
import type { App } from '../../context.ts'
import { andThen, type MaybePromise } from '../../lib/async/maybe-promise.ts'
import { assertMayComeFrom } from './addresses/service.ts'
import { byOAuthToken } from './oauth/authenticate.ts'
import { bySession } from './sessions/authenticate.ts'
import { provesOrigin } from './sessions/forms.ts'
import { byAccessToken } from './tokens/authenticate.ts'
import { findUserByIdOrUsername } from './users/queries.ts'

/** Tokens of CI jobs are not handled here: this context does not know them. */
export const authentication: Authentication = {
  identify: (app, shown, address) =>
    andThen(bearerOf(app, shown, address), (identity) =>
      identity ? andThen(assertMayComeFrom(app, identity.user, address), () => identity) : null,
    ),
  provesOrigin,
  findSudoTarget: (app, given) => findUserByIdOrUsername(app.db, given),
}

function bearerOf(app: App, shown: PresentedCredential, address: string): MaybePromise<Identity | null> {
  switch (shown.as) {
    case 'private_token':
      return byAccessToken(app, shown.secret, address)
    case 'bearer':
      return andThen(byOAuthToken(app, shown.secret), (found) => found ?? byAccessToken(app, shown.secret, address))
    case 'session':
      return bySession(app, shown.secret)
    default:
      return null
  }
}
