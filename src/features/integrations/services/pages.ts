import type { ProjectPage } from '../../../api/server.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { projectPolicy } from '../../projects/projects/policy.ts'
import { findProjectById, loadProjectSubject } from '../../projects/projects/queries.ts'
import { effectiveServices } from './queries.ts'
import { propertiesOf } from './settings.ts'

/** Services that replace the wiki, each with the field that has its URL. */
const WIKIS = [
  ['external-wiki', 'external_wiki_url'],
  ['confluence', 'confluence_url'],
] as const

/** Redirects `/group/project/-/wikis` to the external wiki, if one is configured. */
export const externalWikiPage: ProjectPage = {
  name: 'wikis',
  async find(gateway, request, { id }, rest) {
    const { app } = gateway
    const project = rest.length === 0 || rest.join('/') === 'home' ? await findProjectById(app.db, id) : null
    if (!project) return null
    const subject = await loadProjectSubject(app, project, await webViewer(gateway, request))
    if (!projectPolicy.read(subject)) return null
    const services = await effectiveServices(app.db, { project_id: id, group_id: null })
    for (const [slug, name] of WIKIS) {
      const row = services.get(slug)?.row
      const address = row?.active ? propertiesOf(row)[name] : null
      if (typeof address === 'string')
        return { status: 302, headers: { Location: new URL(address).href }, body: Buffer.alloc(0) }
    }
    return null
  },
}
