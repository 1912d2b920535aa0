import type { WebRoutes } from '../../../api/server.ts'
import { sendAvatar } from '../avatars.ts'
import { findUser } from './queries.ts'

/** Avatars are public, like the profiles that show them. */
export const routes: WebRoutes = (server, { app }) => {
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/user/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const { id, filename } = request.params
      return sendAvatar(app, request, reply, await findUser(app.db, Number(id)), filename)
    },
  )
}
