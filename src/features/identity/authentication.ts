/** Which person stands behind a credential: the one answer for the API, git and the web. */
import type { Authentication } from '../../api/run.ts'
import { byAccessToken } from './tokens/authenticate.ts'
import { findUserByIdOrUsername } from './users/queries.ts'

export const authentication: Authentication = {
  async identify(app, shown, address) {
    switch (shown.as) {
      case 'private_token':
      case 'bearer':
        return byAccessToken(app, shown.secret, address)
      default:
        return null
    }
  },
  provesOrigin: () => false,
  findSudoTarget: (app, given) => findUserByIdOrUsername(app.db, given),
}
