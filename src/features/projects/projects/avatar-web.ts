import type { WebRoutes } from '../../web.ts'
import { sendAvatar } from '../../identity/avatars.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { projectPolicy } from './policy.ts'
import { findProject, meetProject } from './queries.ts'

/** A project's avatar is seen by whoever sees the project. */
export const routes: WebRoutes = (server, door) => {
  const { app } = door
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/project/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const { id, filename } = request.params
      const viewer = await webViewer(door, request)
      const project = await findProject(app.db, id)
      const isSeen = project !== null && projectPolicy.read(await meetProject(app, project, viewer))
      return sendAvatar(app, request, reply, isSeen ? project : null, filename)
    },
  )
}
