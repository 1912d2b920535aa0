import type { WebRoutes } from '../../../api/server.ts'
import { sendAvatar } from '../../identity/avatars.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { findTopic } from './queries.ts'

/** Viewers who may see the topic may see its avatar. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/projects/topic/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const { id, filename } = request.params
      const viewer = await webViewer(gateway, request)
      const topic = Number.isSafeInteger(Number(id)) ? await findTopic(app.db, viewer, Number(id)) : null
      return sendAvatar(app, request, reply, topic, filename)
    },
  )
}
