import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import { id, text } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { findProjectById, findProjectSubject, loadProjectSubject } from '../../projects/projects/queries.ts'
import { projectPaths } from '../items/load.ts'
import { REF, presentSnippet, type SnippetRecord } from './entity.ts'
import type { Snippet, SnippetFile } from './model.ts'
import {
  changeableSnippetPolicy,
  projectSnippetPolicy,
  snippetPolicy,
  snippetsPolicy,
  type ViewedSnippet,
} from './policy.ts'

const byId = hotQuery((db, p: { id: number }) => db.selectFrom('snippets').selectAll().where('id', '=', p.id))

export async function findSnippet(db: Db, id: number): Promise<Snippet | null> {
  return (await byId(db, { id }))[0] ?? null
}

/** The snippet for one viewer. The caller checks whether the viewer may read it. */
export async function findViewedSnippet(app: App, id: number, viewer: User | null): Promise<ViewedSnippet | null> {
  const snippet = await findSnippet(app.db, id)
  if (!snippet) return null
  const viewed = { snippet, viewer, open: openVisibilities(viewer) }
  if (snippet.project_id === null) return { ...viewed, home: null }
  const project = await findProjectById(app.db, snippet.project_id)
  return project && { ...viewed, home: await loadProjectSubject(app, project, viewer) }
}

const definition = {
  name: 'Snippet',
  params: z.object({ id }),
  find: (app: App, params: { id: number }, viewer: User | null) => findViewedSnippet(app, params.id, viewer),
}

/** `/snippets/:id`: personal or of a project, for viewers who may read it. */
export const snippet = resource({ ...definition, policy: snippetPolicy })
export const changeableSnippet = resource({ ...definition, policy: changeableSnippetPolicy })

/** `/projects/:id/snippets`: the project. */
export const snippets = resource({
  name: 'Project',
  params: z.object({ id: text }),
  policy: snippetsPolicy,
  find: (app, { id }, viewer) => findProjectSubject(app, id, viewer),
})

const snippetIn = (named: { name?: string }) =>
  child(snippets, {
    ...named,
    key: 'snippet',
    params: { snippet_id: id },
    policy: projectSnippetPolicy,
    async find({ db }, { project }, { snippet_id }) {
      const found = await findSnippet(db, snippet_id)
      return found?.project_id === project.id ? found : null
    },
  })

export const projectSnippet = snippetIn({})

/** The same, with `Snippet` in the 404 message. */
export const projectSnippetByItsName = snippetIn({ name: 'Snippet' })

const pathsOf = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('snippet_files')
    .select(['snippet_id', 'path'])
    .where(inIdList(db, 'snippet_id', p.ids))
    .orderBy('id'),
)

/** The records of a page of snippets. */
export async function presentSnippets(app: App, snippets: readonly Snippet[]): Promise<SnippetRecord[]> {
  if (snippets.length === 0) return []
  const { db } = app
  const projects = snippets.map(({ project_id }) => project_id).filter((id) => id !== null)
  const ids = snippets.map(({ id }) => id)
  const [loaded, paths, pathsById, around] = await Promise.all([
    withUsers(db, snippets, { author: 'author_id' }),
    pathsOf(db, { ids: idList(db, ids) }),
    projectPaths(db, projects),
    surroundings(app),
  ])
  const named = Map.groupBy(paths, ({ snippet_id }) => snippet_id)
  return loaded.flatMap(({ author, ...snippet }) => {
    const projectPath = snippet.project_id === null ? null : pathsById.get(snippet.project_id)
    if (!author || projectPath === undefined) return [] // deleted meanwhile
    const files = (named.get(snippet.id) ?? []).map(({ path }) => path)
    return [presentSnippet({ ...snippet, author, projectPath, paths: files }, around)]
  })
}

export async function presentOneSnippet(app: App, snippet: Snippet): Promise<SnippetRecord> {
  const [record] = await presentSnippets(app, [snippet])
  if (!record) throw notFound('Snippet')
  return record
}

/** The file with this path, or the first file. */
export async function findSnippetFile(db: Db, { id }: Snippet, path?: string): Promise<SnippetFile | null> {
  const file = await db
    .selectFrom('snippet_files')
    .select(['path', 'content'])
    .where('snippet_id', '=', id)
    .$if(path !== undefined, (query) => query.where('path', '=', path!))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return file ?? null
}

/** The names that clients use for the only version. */
export const isRef = (ref: string): boolean => [REF, 'master', 'HEAD'].includes(ref)

export async function findUserAgentDetail(db: Db, { id }: Snippet) {
  const found = await db
    .selectFrom('user_agent_details')
    .select(['user_agent', 'ip_address'])
    .where('snippet_id', '=', id)
    .executeTakeFirst()
  if (!found) throw notFound('UserAgentDetail')
  return { ...found, akismet_submitted: false }
}
