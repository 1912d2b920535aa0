import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id, text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { findCommits, type Commit } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import type { Db } from '../../../store/database.ts'
import { assertSmallTexts, pageOfTexts } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'
import type { Release, ReleaseLink } from './model.ts'
import { presentRelease, type ReleaseRecord } from './entity.ts'
import { milestonesOfReleases } from './milestones.ts'

export interface ReleaseFilter {
  order_by?: 'released_at' | 'created_at' | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
}

export function listReleases(
  db: Db,
  project: number,
  { order_by, sort, updated_after, updated_before }: ReleaseFilter,
  page: PageRequest,
): Promise<Page<Release>> {
  const found = db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', project)
    .$if(Boolean(updated_after), (query) => query.where('updated_at', '>=', updated_after!))
    .$if(Boolean(updated_before), (query) => query.where('updated_at', '<=', updated_before!))
    .orderBy(order_by ?? 'released_at', sort ?? 'desc')
    .orderBy('id', sort ?? 'desc')
  return pageOfTexts(found, 'description', page)
}

export async function findRelease(db: Db, project: number, tag: string): Promise<Release | null> {
  const release = await db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', project)
    .where('tag', '=', tag)
    .executeTakeFirst()
  return release ?? null
}

/** The newest published release. */
export async function findLatestRelease(app: App, project: number): Promise<Release | null> {
  const release = await app.db
    .selectFrom('releases')
    .selectAll()
    .where('project_id', '=', project)
    .where('released_at', '<=', timestamp(app.clock))
    .orderBy('released_at', 'desc')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return release ?? null
}

/** Release notes by tag name, for tags that have a release. */
export async function notesOf(
  db: Db,
  project: number,
  tags: readonly string[],
): Promise<Map<string, Pick<Release, 'tag' | 'description'>>> {
  if (tags.length === 0) return new Map()
  const query = db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', project)
    .where('tag', 'in', tags)
  await assertSmallTexts(query, 'description')
  const notes = await query.execute()
  return new Map(notes.map((note) => [note.tag, note]))
}

export async function linksOf(db: Db, releases: readonly Release[]): Promise<ReleaseLink[]> {
  if (releases.length === 0) return []
  return db
    .selectFrom('release_links')
    .selectAll()
    .where(
      'release_id',
      'in',
      releases.map(({ id }) => id),
    )
    .orderBy('id')
    .execute()
}

async function findLink(db: Db, release: Release, id: number): Promise<ReleaseLink | null> {
  const link = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', release.id)
    .where('id', '=', id)
    .executeTakeFirst()
  return link ?? null
}

async function findLinkByPath(db: Db, release: Release, path: string): Promise<ReleaseLink | null> {
  const link = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', release.id)
    .where('direct_asset_path', '=', path)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return link ?? null
}

/** The project that shows the release. */
type Scope = Pick<RepositorySubject, 'project' | 'namespace' | 'dir' | 'level'>

/** The records of a page in one project. */
export const presentReleases = (app: App, scope: Scope, releases: readonly Release[]): Promise<ReleaseRecord[]> =>
  presentReleasesAt(app, [scope], releases)

/** The same for several projects. Loads links and authors for all of them at once, and commits once per repository. */
export async function presentReleasesAt(
  app: App,
  scopes: readonly Scope[],
  releases: readonly Release[],
): Promise<ReleaseRecord[]> {
  const links = Map.groupBy(await linksOf(app.db, releases), ({ release_id }) => release_id)
  const milestones = await milestonesOfReleases(app.db, scopes, releases)
  const authored = await withUsers(app.db, releases, { author: 'author_id' })
  const users = await surroundings(app)
  const now = timestamp(app.clock)
  const loaded = scopes.map(async (scope) => {
    const commits = await commitsOf(
      scope,
      releases.filter(({ project_id }) => project_id === scope.project.id),
    )
    const path = `/${pathWithNamespace(scope.project, scope.namespace)}`
    return [scope.project.id, { commits, around: { users, path, projectId: scope.project.id, now } }] as const
  })
  const byProject = new Map(await Promise.all(loaded))
  return authored.flatMap((release) => {
    const facts = byProject.get(release.project_id)
    if (!facts) return []
    const loaded = {
      ...release,
      links: links.get(release.id) ?? [],
      milestones: milestones.get(release.id) ?? [],
      commit: facts.commits.get(release.sha ?? '') ?? null,
    }
    return [presentRelease(loaded, facts.around)]
  })
}

async function commitsOf({ dir }: Scope, releases: readonly Release[]): Promise<Map<string, Commit | null>> {
  const shas = [...new Set(releases.map(({ sha }) => sha))].filter((sha) => sha !== null)
  const found = (await repositoryExists(dir)) ? await findCommits(dir, shas) : []
  return new Map(shas.map((sha, n) => [sha, found[n] ?? null]))
}

/** The 404 text of releases and their links. */
const missing = '404 Not Found'

export const release = child(repository, {
  missing,
  key: 'release',
  params: { tag_name: text },
  find: (app, { project }, { tag_name }) => findRelease(app.db, project.id, tag_name),
})

export const latestRelease = child(repository, {
  missing,
  key: 'release',
  params: {},
  find: (app, { project }) => findLatestRelease(app, project.id),
})

export const linkOf = (parent: typeof release) =>
  child(parent, {
    missing,
    key: 'link',
    params: { link_id: id },
    find: (app, { release }, { link_id }) => findLink(app.db, release, link_id),
  })

/** Matches the path as the caller wrote it, with a leading slash. */
export const linkByPath = child(release, {
  missing,
  key: 'link',
  params: { '*': text },
  find: (app, { release }, { '*': path }) => findLinkByPath(app.db, release, `/${path}`),
})
