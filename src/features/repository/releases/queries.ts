import { z } from 'zod'
import { resource } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { findCommits } from '../../../git/objects/commits.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import type { Db } from '../../../store/database.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { pathWithNamespace } from '../../projects/projects/queries.ts'
import { withAuthors } from '../commits/authors.ts'
import { repositoryPolicy, type RepositorySubject } from '../repositories/policy.ts'
import { findRepository, repository } from '../repositories/queries.ts'
import { presentRelease, type ReleaseRecord } from './entity.ts'
import type { Release, ReleaseLink } from './model.ts'

export interface ReleaseFilter {
  order_by?: 'released_at' | 'created_at' | null | undefined
  sort?: 'asc' | 'desc' | null | undefined
  updated_after?: string | null | undefined
  updated_before?: string | null | undefined
}

export async function listReleases(
  db: Db,
  project: number,
  { order_by, sort, updated_after, updated_before }: ReleaseFilter,
  page: PageWish,
): Promise<Page<Release>> {
  const found = db
    .selectFrom('releases')
    .where('project_id', '=', project)
    .$if(Boolean(updated_after), (query) => query.where('updated_at', '>=', updated_after!))
    .$if(Boolean(updated_before), (query) => query.where('updated_at', '<=', updated_before!))
  const { total } = await found.select((eb) => eb.fn.countAll<number>().as('total')).executeTakeFirstOrThrow()
  const items = await found
    .selectAll()
    .orderBy(order_by ?? 'released_at', sort ?? 'desc')
    .orderBy('id', sort ?? 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return { items, total: Number(total) }
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

/** The newest that is out. */
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

/** By the names of the tags that have one. */
export async function notesOf(
  db: Db,
  project: number,
  tags: readonly string[],
): Promise<Map<string, Pick<Release, 'tag' | 'description'>>> {
  if (tags.length === 0) return new Map()
  const notes = await db
    .selectFrom('releases')
    .select(['tag', 'description'])
    .where('project_id', '=', project)
    .where('tag', 'in', tags)
    .execute()
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

export async function findLink(db: Db, release: Release, id: number): Promise<ReleaseLink | null> {
  const link = await db
    .selectFrom('release_links')
    .selectAll()
    .where('release_id', '=', release.id)
    .where('id', '=', id)
    .executeTakeFirst()
  return link ?? null
}

/** A path is looked for as it was given, with the slash before it. */
export async function findLinkByPath(db: Db, release: Release, path: string): Promise<ReleaseLink | null> {
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

/** The records of a page: links, authors and commits are read for all of them at once. */
export async function presentReleases(
  app: App,
  { project, namespace, dir }: RepositorySubject,
  releases: readonly Release[],
): Promise<ReleaseRecord[]> {
  const links = Map.groupBy(await linksOf(app.db, releases), ({ release_id }) => release_id)
  const authored = await withAuthors(app.db, releases)
  const shas = [...new Set(releases.map(({ sha }) => sha))].filter((sha) => sha !== null)
  const found = (await repositoryExists(dir)) ? await findCommits(dir, shas) : []
  const commits = new Map(shas.map((sha, n) => [sha, found[n] ?? null]))
  const around = {
    users: await surroundings(app),
    path: `/${pathWithNamespace(project, namespace)}`,
    projectId: project.id,
    now: timestamp(app.clock),
  }
  return authored.map((release) =>
    presentRelease(
      {
        ...release,
        links: links.get(release.id) ?? [],
        commit: commits.get(release.sha ?? '') ?? null,
      },
      around,
    ),
  )
}

export interface ReleaseSubject extends RepositorySubject {
  /** Null where there is none, and for whoever may not know. */
  readonly release: Release | null
}

/** `/projects/:id/releases/:tag_name`: the repository, and the release if there is one. */
export const release = resource({
  name: repository.name!,
  params: z.object({ id: text, tag_name: text }),
  policy: repositoryPolicy,
  async find(app, { id, tag_name }, viewer): Promise<ReleaseSubject | null> {
    const subject = await findRepository(app, id, viewer)
    if (!subject) return null
    const may = repositoryPolicy.download(subject)
    return { ...subject, release: may ? await findRelease(app.db, subject.project.id, tag_name) : null }
  },
})
