import type { WebRoutes } from '../../../api/server.ts'
import { send } from '../../../api/web-answers.ts'
import { unauthenticated } from '../../../errors.ts'
import { signedInOn } from '../sessions/authenticate.ts'
import { onForm } from '../sessions/forms.ts'
import { replaceFeedToken } from './service.ts'

const PATHS = ['/-/profile/reset_feed_token', '/profile/reset_feed_token', '/profile/reset_rss_token']

/** The form that replaces the token on pages; the new token is read through the API. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway
  for (const path of PATHS)
    for (const method of ['PUT', 'POST'])
      onForm(
        server,
        gateway,
        path,
        async (_form, request, reply) => {
          const user = await signedInOn(app, request)
          if (!user) throw unauthenticated()
          await replaceFeedToken(app, user)
          return send(request, reply, 204, undefined)
        },
        { method },
      )
}
