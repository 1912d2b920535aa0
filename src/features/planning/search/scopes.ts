/** The search scopes: each returns matches as records, only of what the viewer may see. */
import type { Json } from '../../../api/json.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { findCommit, findCommits, type Commit } from '../../../git/objects/commits.ts'
import { findLines, findMessages } from '../../../git/history/search.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { textQuery } from '../../../store/full-text.ts'
import { pageOfArray, type Cut, type Page } from '../../../store/pages.ts'
import { presentSummaries } from '../../identity/users/load.ts'
import { listUsers } from '../../identity/users/lists.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { listProjects } from '../../projects/lists/lists.ts'
import { presentProjects } from '../../projects/projects/load.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { repositoryDir, wikiDir } from '../../projects/repositories/repository.ts'
import { presentCommitDetail } from '../../repository/commits/entity.ts'
import { repositoryPolicy } from '../../repository/repositories/policy.ts'
import { commitPipelines } from '../../repository/commits/status.ts'
import { wikiPolicy } from '../../repository/wikis/policy.ts'
import { WIKI_REF } from '../../repository/wikis/queries.ts'
import { findItems } from '../items/queries.ts'
import { itemKinds, type RegisteredKind } from '../items/registry.ts'
import { presentMilestones } from '../milestones/queries.ts'
import { presentSnippets } from '../snippets/queries.ts'
import { presentBlobMatch, presentNoteMatch } from './entity.ts'
import { findItemsByWords, findMembers, findMilestones, findMilestonesIn, findNotes, findSnippets } from './lists.ts'
import { fileTermsOf } from './terms.ts'

interface SearchOptions {
  readonly search: string
  readonly state?: 'opened' | 'closed' | 'merged' | 'active' | 'all' | null | undefined
  readonly confidential?: boolean | null | undefined
  readonly sort?: 'asc' | 'desc' | null | undefined
  readonly ref?: string | null | undefined
  readonly include_archived?: boolean | null | undefined
}

/** Where to search: everywhere, in a group or in a project. */
export type Where = { readonly group?: { readonly id: number }; readonly project?: ProjectSubject }

export interface Search extends Where {
  readonly app: App
  readonly viewer: User
  readonly input: SearchOptions
  readonly page: Cut & { readonly page: number }
}

type SearchPage = Page<unknown> | Page<Json<unknown>>
export type Scope = (search: Search) => Promise<SearchPage>

const NOTHING = { items: [], total: 0 }

/** For scopes with full-text search in the database. */
const byWords =
  (find: (search: Search, words: string) => Promise<SearchPage>): Scope =>
  async (search) => {
    const words = textQuery(search.app.db, search.input.search)
    return words === null ? NOTHING : find(search, words)
  }

/** Active projects first, then archived ones. */
async function oneAfterOther<T>(list: (archived: boolean, cut: Cut) => Promise<Page<T>>, cut: Cut): Promise<Page<T>> {
  const used = await list(false, cut)
  if (used.more) return used
  const room = cut.limit - used.items.length
  const offset = Math.max(0, cut.offset - used.total)
  // If the page is already full, archived ones are still counted.
  const archived = await list(true, { offset, limit: Math.max(1, room) })
  const items = [...used.items, ...archived.items.slice(0, room)]
  return { ...archived, items, total: used.total + archived.total }
}

const projects: Scope = async ({ app, viewer, group, input, page }) => {
  const within = group && { group: { id: group.id, include_subgroups: true, with_shared: true } }
  const list = (archived: boolean, cut: Cut) =>
    listProjects(app, viewer, { search: input.search, ...within, archived }, cut)
  const { items, ...found } = await (input.include_archived ? oneAfterOther(list, page) : list(false, page))
  return { ...found, items: await presentProjects(app, viewer, items, { simple: true }) }
}

const itemsOf = (kind: RegisteredKind) =>
  byWords(async ({ app, viewer, group, project, input, page }, words) => {
    const { items, ...found } = await findItemsByWords(
      app,
      kind,
      viewer,
      project,
      { ...input, words, group: group?.id },
      page,
    )
    return { ...found, items: await kind.present(app, viewer, items, { isMixed: !project }) }
  })

const milestones = byWords(async ({ app, viewer, group, project, input, page }, words) => {
  if (input.state === 'merged') return NOTHING
  const state = input.state === 'opened' ? 'active' : input.state
  const query = {
    words,
    sort: input.sort,
    include_archived: input.include_archived,
    ...(state && state !== 'all' && { state }),
  }
  const { items, ...found } = project
    ? await findMilestonesIn(app, project, query, page)
    : await findMilestones(app, viewer, { ...query, group: group?.id }, page)
  return { ...found, items: await presentMilestones(app, items) }
})

const users: Scope = async ({ app, viewer, group, project, input, page }) => {
  const text = input.search.trim()
  if (text === '') return NOTHING
  const scope = project ? { project: project.project.id } : group && { group: group.id }
  const { items, total } = scope
    ? await findMembers(app.db, scope, text, page)
    : await listUsers(app.db, viewer, { search: text, active: true }, page)
  return { total, items: await presentSummaries(app, items) }
}

const snippetTitles = byWords(async ({ app, viewer, page }, words) => {
  const { items, ...found } = await findSnippets(app, viewer, { words }, page)
  return { ...found, items: await presentSnippets(app, items) }
})

const notes = byWords(async ({ app, project, input, page }, words) => {
  const { items, ...found } = await findNotes(app, project!, { words, sort: input.sort }, page)
  const [noted, loaded, around] = await Promise.all([
    Promise.all(
      itemKinds().map(async (kind) => {
        const found = await findItems(
          app.db,
          kind,
          items.flatMap((note) => note[kind.column] ?? []),
        )
        return { kind, iids: new Map(found.map(({ id, iid }) => [id, iid])) }
      }),
    ),
    withUsers(app.db, items, { author: 'author_id' }),
    surroundings(app),
  ])
  const iidOf = (note: (typeof items)[number]) =>
    noted.map(({ kind, iids }) => iids.get(note[kind.column] ?? 0)).find((iid) => iid !== undefined) ?? null
  return { ...found, items: loaded.map((note) => presentNoteMatch({ ...note, iid: iidOf(note) }, around)) }
})

async function linesIn(search: Search, dir: string, ref: string): Promise<SearchPage> {
  const { project, input, page } = search
  if (input.search.trim() === '' || !(await repositoryExists(dir))) return NOTHING
  const found = await findLines(dir, ref, fileTermsOf(input.search))
  const { items, total } = pageOfArray(found ?? [], page)
  const at = { ref, project_id: project!.project.id }
  return { total, items: items.map((lines) => presentBlobMatch(lines, at)) }
}

const readsCode = ({ app, project }: Search) =>
  repositoryPolicy.download({ ...project!, dir: repositoryDir(app, project!.project) })

const refOf = ({ project, input }: Search) => input.ref || project!.project.default_branch || 'HEAD'

const blobs: Scope = async (search) =>
  readsCode(search) ? linesIn(search, repositoryDir(search.app, search.project!.project), refOf(search)) : NOTHING

const wikiBlobs: Scope = async (search) => {
  const { app, project } = search
  if (!wikiPolicy.readWiki(project!)) return NOTHING
  const found = await linesIn(search, wikiDir(app, project!.project), WIKI_REF)
  return { ...found, items: found.items.map((item) => ({ ...(item as object), ref: WIKI_REF.split('/').at(-1)! })) }
}

const commits: Scope = async (search) => {
  const { app, project, input, page } = search
  const text = input.search.trim()
  const dir = repositoryDir(app, project!.project)
  if (text === '' || !readsCode(search) || !(await repositoryExists(dir))) return NOTHING
  // An empty repository has no matches. But a ref that the caller names must exist.
  const ids = await findMessages(dir, refOf(search), text)
  if (!ids && input.ref) throw notFound('Commit')
  const named = /^[0-9a-f]{7,40}$/i.test(text) ? await findCommit(dir, text.toLowerCase()) : null
  const all = [...new Set([...(named ? [named.id] : []), ...(ids ?? [])])]
  const { items, total } = pageOfArray(all, page)
  const [found, pipelines] = await Promise.all([
    findCommits(dir, items),
    commitPipelines(app.db, project!.project.id, items),
  ])
  const at = { url: webUrlOf(app, project!), projectId: project!.project.id }
  const present = (commit: Commit) => presentCommitDetail(commit, { ...at, pipeline: pipelines.get(commit.id) ?? null })
  return { total, items: found.filter((commit) => commit !== null).map(present) }
}

/** The scopes of each place, by name. Every kind of item is a scope. */
export function scopesFor(kinds: readonly RegisteredKind[]) {
  const items: Record<string, Scope> = Object.fromEntries(kinds.map((kind) => [kind.table, itemsOf(kind)]))
  return {
    everywhere: { projects, ...items, milestones, snippet_titles: snippetTitles, users },
    inGroup: { projects, ...items, milestones, users },
    inProject: { ...items, milestones, notes, wiki_blobs: wikiBlobs, commits, blobs, users },
  }
}
