import type { App } from '../../../context.ts'
import { readObject } from '../../../git/objects/objects.ts'
import { entryAt } from '../../../git/objects/trees.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { Events } from '../../../store/database.ts'
import type { EventMessage } from '../../../store/outbox.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { WIKI_BRANCH } from '../../repository/gate/wikis.ts'
import { askGit, type RepositoryContext } from './commits.ts'
import { source, projectMessage, type Complete } from './message.ts'
import { hookProject, hookText, hookUserById, findProjectInNamespace } from './shared.ts'

async function pageMessages(app: App, page: Events['wiki_page.changed']): Promise<EventMessage[]> {
  const at = await findProjectInNamespace(app, page.project_id)
  if (!at) return []
  const project = hookProject(app, at)
  const url = pageBelow(project.web_url, `wikis/${encodeSegments(page.slug)}`)
  const wikiOf = (address: string) => address.replace(/\.git$/, '.wiki.git')
  const body = {
    object_kind: 'wiki_page',
    user: await hookUserById(app, page.by),
    project,
    wiki: {
      web_url: pageBelow(project.web_url, 'wikis/home'),
      git_ssh_url: wikiOf(project.git_ssh_url),
      git_http_url: wikiOf(project.git_http_url),
      path_with_namespace: `${project.path_with_namespace}.wiki`,
      default_branch: WIKI_BRANCH,
    },
    object_attributes: {
      title: page.title,
      // Revision and path of the page, until the content is read.
      content: `${page.text}:${page.path}`,
      format: page.format,
      message: page.message,
      slug: page.slug,
      url,
      action: page.action,
      version_id: page.version,
      diff_url: `${url}/diff?version_id=${page.version}`,
    },
  }
  const message = { kind: 'wiki_page', switch: 'wiki_page_events', project_id: page.project_id } as const
  return [projectMessage({ ...message, body, complete: false })]
}

const LARGEST_PAGE = 8 * 1024 * 1024

export const completeWikiPage: Complete = async (app, { project_id, body }) => {
  const { object_attributes: page } = body as { object_attributes: { content: string } }
  const [commit, path] = [page.content.slice(0, 40), page.content.slice(41)]
  const read = async ({ dir, webUrl }: RepositoryContext) => {
    const entry = await entryAt(dir, commit, path)
    const object = entry && (await readObject(dir, entry.id, { maxBytes: LARGEST_PAGE }))
    return hookText(app, object?.content?.toString() ?? '', pageBelow(webUrl, 'wikis'))
  }
  const content = await askGit(app, project_id, read, '', wikiDir)
  return { ...body, object_attributes: { ...page, content } }
}

export const wikiPageSources = [source('wiki_page.changed', ['wiki_page_events'], pageMessages)]
