import { child } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { findCommit, type Commit } from '../../../git/objects/commits.ts'
import { listHistory } from '../../../git/history/history.ts'
import type { HistoryOptions } from '../../../git/history/walks.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../repositories/policy.ts'
import { repository } from '../repositories/queries.ts'

/** What the presenters must know of the project. */
export const presentationOf = (app: App, subject: RepositorySubject) => ({
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

/** Newest first. Whatever does not exist, or cannot, has no commits. */
export async function findHistory(dir: string, filter: CommitFilter, page: PageRequest): Promise<Page<Commit>> {
  const start = filter.all ? { all: true } : startOf(filter.ref_name ?? '')
  if (!start) return { items: [], total: 0 }
  const place = { skip: page.offset, limit: page.limit }
  const { commits, total } = await listHistory(dir, { ...start, ...historyOptions(filter) }, place)
  return { items: commits, total }
}

/** A name, or a range as `v1.0..master`, for two dots are in no name; an end that is not named is HEAD. */
function startOf(name: string): Pick<HistoryOptions, 'from' | 'not'> | null {
  const ends = name.split('..').map((end) => end || 'HEAD')
  return ends.length > 2 ? null : { from: ends.slice(-1), not: ends.slice(0, -1) }
}

function historyOptions(filter: CommitFilter): HistoryOptions {
  const path = filter.path?.split('/').filter(Boolean).join('/')
  return {
    ...(path && { path }),
    ...(filter.since && { since: new Date(filter.since) }),
    ...(filter.until && { until: new Date(filter.until) }),
    ...(filter.author && { author: filter.author }),
    ...(filter.first_parent && { firstParent: true }),
    ...(filter.order === 'topo' && { order: 'topo' as const }),
  }
}
