import { child } from '../../../api/endpoint.ts'
import type { Page, PageWish } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommit, findCommits, resolveCommits, type Commit } from '../../../git/objects/commits.ts'
import { countCommits, listCommitIds, listCommits, type HistoryWish } from '../../../git/history/history.ts'
import { Lru } from '../../../lib/lru.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'

/** What the presenters must know of the project. */
export const placeOf = (app: App, subject: RepositorySubject) => ({
  url: webUrlOf(app, subject),
  projectId: subject.project.id,
})

/** By any name of it: a branch or a tag is its newest commit. */
export const commit = child(repository, {
  name: 'Commit',
  key: 'commit',
  params: { sha: text },
  find: (_app, { dir }, { sha }) => findCommit(dir, sha),
})

export interface CommitFilter {
  readonly ref_name?: string | null | undefined
  readonly since?: string | null | undefined
  readonly until?: string | null | undefined
  readonly path?: string | null | undefined
  readonly author?: string | null | undefined
  readonly all?: boolean | null | undefined
  readonly first_parent?: boolean | null | undefined
  readonly order?: 'default' | 'topo' | null | undefined
}

/** While renames are followed git cannot count, so commits are listed; not for ever. */
const MOST_FOLLOWED = 10_000

/** Newest first. Whatever does not exist, or cannot, has no commits. */
export async function findHistory(dir: string, filter: CommitFilter, page: PageWish): Promise<Page<Commit>> {
  const start = filter.all ? { all: true } : await startOf(dir, filter.ref_name ?? '')
  if (!start) return { items: [], total: 0 }
  const wish = { ...start, ...historyWish(filter) }
  if (wish.path !== undefined) return follow(dir, wish, page)
  const total = await totalOf(dir, wish)
  const items = page.offset < total ? await listCommits(dir, { ...wish, skip: page.offset, limit: page.limit }) : []
  return { items, total }
}

/** A name, or a range as `v1.0..master`, for two dots are in no name; an end that is not named is HEAD. */
async function startOf(dir: string, name: string): Promise<Pick<HistoryWish, 'from' | 'not'> | null> {
  const ends = await resolveCommits(
    dir,
    name.split('..').map((end) => end || 'HEAD'),
  )
  const known = ends.filter((end) => end !== null)
  if (ends.length > 2 || known.length < ends.length) return null
  return { from: known.slice(-1), not: known.slice(0, -1) }
}

function historyWish(filter: CommitFilter): HistoryWish {
  const path = filter.path?.split('/').filter(Boolean).join('/')
  return {
    ...(path && { path, follow: true }),
    ...(filter.since && { since: new Date(filter.since) }),
    ...(filter.until && { until: new Date(filter.until) }),
    ...(filter.author && { author: filter.author }),
    ...(filter.first_parent && { firstParent: true }),
    ...(filter.order === 'topo' && { order: 'topo' as const }),
  }
}

async function follow(dir: string, wish: HistoryWish, { offset, limit }: PageWish): Promise<Page<Commit>> {
  const total = recall(dir, wish)
  const ids =
    total === undefined
      ? await listCommitIds(dir, { ...wish, limit: MOST_FOLLOWED })
      : await listCommitIds(dir, { ...wish, skip: offset, limit: Math.min(limit, Math.max(0, total - offset)) })
  const commits = await findCommits(dir, total === undefined ? ids.slice(offset, offset + limit) : ids)
  return {
    items: commits.filter((commit) => commit !== null),
    total: total ?? keep(dir, wish, ids.length),
  }
}

async function totalOf(dir: string, wish: HistoryWish): Promise<number> {
  return recall(dir, wish) ?? keep(dir, wish, await countCommits(dir, wish))
}

/** What a commit reaches never changes: counted once, while there is room. */
const totals = new Lru<number>(5000)
const LONGEST_KEY = 2000

const keyOf = (dir: string, wish: HistoryWish) => `${dir}\0${JSON.stringify(wish)}`

const recall = (dir: string, wish: HistoryWish) => totals.get(keyOf(dir, wish))

function keep(dir: string, wish: HistoryWish, total: number): number {
  const key = keyOf(dir, wish)
  if (!wish.all && key.length <= LONGEST_KEY) totals.set(key, total)
  return total
}
