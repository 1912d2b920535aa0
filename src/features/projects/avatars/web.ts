import type { WebRoutes } from '../../../api/server.ts'
import type { App } from '../../../context.ts'
import { sendAvatar, sendPicture } from '../../identity/avatars.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { readLogo, type Logo } from './logo.ts'
import { hasFeature, projectPolicy, type ProjectSubject } from '../projects/policy.ts'
import { findProject, loadProjectSubject } from '../projects/queries.ts'
import { repositoryDir } from '../repositories/repository.ts'

/** Users who may read the project may see its avatar. */
export const routes: WebRoutes = (server, gateway) => {
  const { app } = gateway
  server.get<{ Params: { id: string; filename: string } }>(
    '/uploads/-/system/project/avatar/:id(^\\d+$)/:filename',
    async (request, reply) => {
      const { id, filename } = request.params
      const viewer = await webViewer(gateway, request)
      const project = await findProject(app.db, id)
      const subject = project && (await loadProjectSubject(app, project, viewer))
      if (!subject || !projectPolicy.read(subject)) return sendAvatar(app, request, reply, null, filename)
      const logo = await logoOf(app, subject, filename)
      if (!logo) return sendAvatar(app, request, reply, project, filename)
      return sendPicture(reply, { type: logo.type, size: logo.bytes.length, content: logo.bytes })
    },
  )
}

/** The logo in the repository, if the viewer may read the repository. An uploaded avatar takes precedence. */
async function logoOf(app: App, subject: ProjectSubject, filename: string): Promise<Logo | null> {
  const { avatar_filename, default_branch, logo_path } = subject.project
  if (!hasFeature(subject, 'repository') || avatar_filename !== null || logo_path !== filename) return null
  return readLogo(repositoryDir(app, subject.project), default_branch, logo_path)
}
