import { pageBelow } from '../../../lib/net/page-below.ts'
import type { App } from '../../../context.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { presentLink, releaseSources } from '../../repository/releases/entity.ts'
import { linksOf } from '../../repository/releases/queries.ts'
import { commitStub } from './commits.ts'
import { source, projectMessage } from './message.ts'
import { hookProject, hookText, findProjectInNamespace, rowTime } from './shared.ts'

const SWITCHES = ['releases_events'] as const

async function releaseMessages(app: App, id: number, action: string): Promise<EventMessage[]> {
  const release = await app.db.selectFrom('releases').selectAll().where('id', '=', id).executeTakeFirst()
  const at = release && (await findProjectInNamespace(app, release.project_id))
  if (!at) return []
  const { tag, project_id } = release
  const project = hookProject(app, at)
  const links = await linksOf(app.db, [release])
  const sources = releaseSources(app.url, project_id, tag)
  const body = {
    id,
    created_at: rowTime(release.created_at),
    description: hookText(app, release.description, project.web_url),
    name: release.name ?? tag,
    released_at: rowTime(release.released_at),
    tag,
    object_kind: 'release',
    project,
    url: pageBelow(project.web_url, `releases/${encodeURIComponent(tag)}`),
    action,
    assets: {
      count: links.length + sources.length,
      links: links.map((link) => presentLink(link, { url: app.url, projectId: project_id, tag })),
      sources,
    },
    commit: commitStub(release.sha),
  }
  const complete = release.sha === null
  return [projectMessage({ kind: 'release', switch: 'releases_events', project_id, body, complete })]
}

export const releaseMessageSources = [
  source('release.created', SWITCHES, (app, { id }) => releaseMessages(app, id, 'create')),
  source('release.updated', SWITCHES, (app, { id }) => releaseMessages(app, id, 'update')),
  source('release.deleted', SWITCHES, (app, { id }) => releaseMessages(app, id, 'delete')),
]
