import type { WebRoutes } from '../../web.ts'
import { UNKNOWN_ROUTE } from '../../../api/answers.ts'
import { send } from '../../../api/web-answers.ts'
import { findUser } from './queries.ts'

/** Avatars are public, like the profile they stand on; whatever the bytes hold, a browser only ever shows them. */
export const routes: WebRoutes = (server, { app }) => {
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/user/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const user = await findUser(app.db, Number(request.params.id))
      const named = user?.avatar_filename === request.params.filename
      const avatar = named && user.avatar_digest ? await app.blobs.open(user.avatar_digest) : null
      if (!avatar || !user?.avatar_type) return send(request, reply, 404, UNKNOWN_ROUTE)
      return reply
        .header('Content-Type', user.avatar_type)
        .header('Content-Length', avatar.size)
        .header('Content-Security-Policy', "default-src 'none'; sandbox")
        .header('Cache-Control', 'max-age=300, private')
        .send(avatar.stream)
    },
  )
}
