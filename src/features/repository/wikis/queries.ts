import { child } from '../../../api/endpoint.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { readObjects } from '../../../git/objects/objects.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { LongListing, openListing } from '../../../git/objects/long-listings.ts'
import { isFile } from '../../../git/objects/trees.ts'
import { guardedProject, type Project } from '../../projects/projects/queries.ts'
import { wikiDir } from '../../projects/repositories/repository.ts'
import { WIKI_BRANCH } from '../gate/wikis.ts'
import { pageOfFile, type PageFile } from './pages.ts'
import { wikiPolicy } from './policy.ts'

export const wiki = { ...guardedProject, policy: wikiPolicy, limiter: 'git' } as const

const missedAs = { name: 'Wiki Page', key: 'page' } as const
const slug = text

export const wikiPage = child(wiki, {
  ...missedAs,
  params: { slug },
  find: (app, { project }, { slug }) => findPage(app, project, slug),
})

/** The current page, or its state at a commit of the wiki. */
export const wikiPageAt = child(wiki, {
  ...missedAs,
  params: { slug, version: text.nullish() },
  find: (app, { project }, { slug, version }) => findPage(app, project, slug, version || undefined),
})

export interface Page extends PageFile {
  /** The path in the repository. */
  readonly path: string
  readonly blob: string
}

export const WIKI_REF = `refs/heads/${WIKI_BRANCH}`
const LARGEST_PAGE = 8 * 1024 * 1024
const MOST_PAGES = 20_000

/**
 * Sorted by slug: `home` first, and folders after the pages next to them. The current state, or the state at a commit
 * of the wiki.
 */
export async function listPages(app: App, project: Project, version = WIKI_REF): Promise<Page[]> {
  const dir = wikiDir(app, project)
  if (!(await repositoryExists(dir))) return []
  const listing = (await openListing(dir, version, '', { recursive: true })) ?? []
  const pages: Page[] = []
  for await (const entry of listing instanceof LongListing ? listing.entries() : listing) {
    const page = isFile(entry) ? pageOfFile(entry.path) : null
    if (page) pages.push({ ...page, path: entry.path, blob: entry.id })
    if (pages.length === MOST_PAGES) break
  }
  return pages.toSorted(
    (a, b) => depth(a) - depth(b) || Number(isHome(b)) - Number(isHome(a)) || compare(a.slug, b.slug),
  )
}

const depth = ({ slug }: Page) => slug.split('/').length
const isHome = ({ slug }: Page) => slug === 'home'
const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Ignores case, because slugs are unique without regard to case. */
export async function findPage(app: App, project: Project, slug: string, version?: string): Promise<Page | null> {
  const lowered = slug.toLowerCase()
  return (await listPages(app, project, version)).find((page) => page.slug.toLowerCase() === lowered) ?? null
}

/** Reads several short pages at a time, but long pages one by one, so that memory holds at most one long page. */
const MOST_AT_ONCE = 16
const LONG_READING = 256 * 1024

export async function* withContents(
  app: App,
  project: Project,
  pages: readonly Page[],
): AsyncGenerator<[page: Page, content: string]> {
  let most = 1
  for (let from = 0; from < pages.length;) {
    const some = pages.slice(from, from + most)
    const contents = await contentsOf(app, project, some)
    const length = contents.reduce((sum, content) => sum + content.length, 0)
    for (const [n, page] of some.entries()) yield [page, contents[n]!]
    from += some.length
    most = length > LONG_READING ? 1 : Math.min(most * 2, MOST_AT_ONCE)
  }
}

/** The texts of these pages, read at once. */
export async function contentsOf(app: App, project: Project, pages: readonly Page[]): Promise<string[]> {
  if (pages.length === 0) return []
  const objects = await readObjects(
    wikiDir(app, project),
    pages.map(({ blob }) => blob),
    { maxBytes: LARGEST_PAGE },
  )
  return objects.map((object) => object?.content?.toString('utf8') ?? '')
}
