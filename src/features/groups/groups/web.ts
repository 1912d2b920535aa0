import type { WebRoutes } from '../../../api/server.ts'
import { sendAvatar } from '../../identity/avatars.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { groupPolicy } from './policy.ts'
import { findGroup, loadGroupSubject } from './queries.ts'

/** Everybody who can see a group can see its avatar. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/group/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const { id, filename } = request.params
      const viewer = await webViewer(gateway, request)
      const group = await findGroup(app.db, id)
      const isSeen = group !== null && groupPolicy.read(await loadGroupSubject(app, group, viewer))
      return sendAvatar(app, request, reply, isSeen ? group : null, filename)
    },
  )
}
