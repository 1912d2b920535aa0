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

/** Facts about the project that presenters need. */
export const presentationOf = (app: App, subject: RepositorySubject) => ({
  url: webUrlOf(app, subject),
  projectId: subject.project.id,
})

/** Accepts any revision name. A branch or a tag means its newest commit. */
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

/** Newest first. An unknown or invalid revision has no commits. */
export async function findHistory(dir: string, filter: CommitFilter, page: PageRequest): Promise<Page<Commit>> {
  const start = filter.all ? { all: true } : startOf(filter.ref_name ?? '')
  if (!start) return { items: [], total: 0 }
  const range = { skip: page.offset, limit: page.limit }
  const { commits, total } = await listHistory(dir, { ...start, ...historyOptions(filter) }, range)
  return { items: commits, total }
}

/**
 * Parses a revision or a range such as `v1.0..master`; no revision name contains two dots. An omitted end means HEAD.
 */
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
