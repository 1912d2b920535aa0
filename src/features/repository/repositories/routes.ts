import { buffer } from 'node:stream/consumers'
import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { answerList } from '../../../api/streamed-lists.ts'
import { blankable, bool, filledText, id, listOf, oneOf, text } from '../../../api/wire.ts'
import { Refusal, badParameter, notFound } from '../../../errors.ts'
import { findCommit, resolveCommit, resolveCommits } from '../../../git/objects/commits.ts'
import { mergeBase as findMergeBase } from '../../../git/history/history.ts'
import { lastCommits } from '../../../git/history/last-commits.ts'
import { areWithheld } from '../../../git/objects/withheld.ts'
import { openBlob } from '../../../git/objects/objects.ts'
import { listContributors, type Contributor } from '../../../git/history/stats.ts'
import { openListing } from '../../../git/objects/long-listings.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { webUrlOf } from '../../projects/projects/queries.ts'
import { CommitEntity, presentCommit } from '../commits/entity.ts'
import { diffLooks } from '../commits/looks.ts'
import { markDiffs } from '../commits/marked-diffs.ts'
import { compare as compareRefs, repositoryOf } from './comparison.ts'
import { answerArchive, answerLargeBlob, answerRaw, archiveFormat } from './downloads.ts'
import {
  BlobEntity,
  CompareEntity,
  ContributorEntity,
  PathsEntity,
  TreeCommitEntity,
  TreeEntryEntity,
  presentBlob,
  presentComparison,
  presentContributor,
  presentTreeEntry,
} from './entity.ts'
import { openLargeFile } from './large-files.ts'
import { nextLink } from './next-link.ts'
import type { RepositorySubject } from './policy.ts'
import { repository } from './queries.ts'
import { entriesOf, pageAfter, pageOfListing } from './tree-pages.ts'

const reading = { method: 'GET', on: repository, allow: 'download', by: 'visitor' } as const

/** Downloads of any size. */
const downloading = { ...reading, limiter: 'download' } as const

const bytes = z.string().meta({ format: 'binary' })

/** The requested revision, or the default branch; never a tag with the name of the default branch. */
const revision = ({ project }: RepositorySubject, given: string | null | undefined) =>
  given || `refs/heads/${project.default_branch}`

export const tree = endpoint({
  ...reading,
  path: '/projects/:id/repository/tree',
  summary: 'List the files and folders of a repository',
  input: z.object({
    path: blankable(text),
    ref: blankable(text),
    recursive: blankable(bool),
    pagination: blankable(oneOf('legacy', 'keyset', 'none')),
    page_token: blankable(text),
  }),
  output: pageOf(TreeEntryEntity),
  async handle({ app, subject, input, page }) {
    const { path, recursive, pagination, page_token } = input
    const commit = await resolveCommit(subject.dir, revision(subject, input.ref))
    if (!commit) throw notFound('Tree')
    const listing = (await openListing(subject.dir, commit, path ?? '', { recursive: recursive ?? false })) ?? []
    if (pagination === 'none' && recursive) return answerList(entriesOf(listing), presentTreeEntry)
    if (pagination !== 'keyset') {
      const { items, total } = await pageOfListing(listing, page)
      return { items: items.map(presentTreeEntry), total }
    }
    const found = await pageAfter(listing, page_token ?? null, page.limit)
    if (!found) throw badParameter('page_token is invalid')
    const items = found.items.map(presentTreeEntry)
    if (found.token === null) return new Answer(200, items)
    const next = { ...input, per_page: page.limit, page_token: found.token }
    return new Answer(200, items, nextLink(app, subject, 'tree', next))
  },
})

const MOST_PATHS = 20_000
const MOST_LETTERS = 2_000_000

export const paths = endpoint({
  ...reading,
  path: '/projects/:id/repository/paths',
  summary: 'List the paths of all files of a repository, up to a limit',
  costly: true,
  input: z.object({ ref: blankable(text) }),
  output: PathsEntity,
  async handle({ subject, input }) {
    const commit = await resolveCommit(subject.dir, revision(subject, input.ref))
    if (!commit) throw notFound('Tree')
    const listing = (await openListing(subject.dir, commit, '', { recursive: true })) ?? []
    const found: string[] = []
    let letters = 0
    for await (const { type, path } of entriesOf(listing)) {
      if (type !== 'blob') continue
      letters += path.length
      if (found.length === MOST_PATHS || letters > MOST_LETTERS) return { paths: found, is_cut: true }
      found.push(path)
    }
    return { paths: found, is_cut: false }
  },
})

export const treeCommits = endpoint({
  ...reading,
  path: '/projects/:id/repository/tree_commits',
  summary: 'List the entries of a folder with the commits that last changed them',
  input: z.object({ path: blankable(text), ref: blankable(text) }),
  output: pageOf(TreeCommitEntity),
  async handle({ app, subject, input, page }) {
    const commit = await resolveCommit(subject.dir, revision(subject, input.ref))
    if (!commit) throw notFound('Tree')
    const path = input.path ?? ''
    const listing = (await openListing(subject.dir, commit, path, { recursive: false })) ?? []
    const [{ items, total }, last] = await Promise.all([
      pageOfListing(listing, page),
      lastCommits(subject.dir, commit, path),
    ])
    const presentation = { url: webUrlOf(app, subject) }
    const present = ({ name, path }: (typeof items)[number]) => {
      const found = last?.get(name)
      return { name, path, commit: found ? presentCommit(found, presentation) : null }
    }
    return { items: items.map(present), total }
  },
})

/** Up to this size, the record is built in memory. */
const SMALL_BLOB = 1024 * 1024

async function assertGiven(dir: string, sha: string): Promise<void> {
  const [isWithheld] = await areWithheld(dir, [sha])
  if (isWithheld) throw notFound('Blob')
}

async function openExactly(dir: string, sha: string) {
  await assertGiven(dir, sha)
  const blob = await openBlob(dir, sha)
  if (!blob) throw notFound('Blob')
  return blob
}

export const blob = endpoint({
  ...downloading,
  path: '/projects/:id/repository/blobs/:sha',
  summary: 'Get a blob of a repository',
  input: z.object({ sha: text }),
  output: BlobEntity,
  async handle({ subject, input }) {
    const found = await openExactly(subject.dir, input.sha)
    return found.size > SMALL_BLOB ? answerLargeBlob(found) : presentBlob(found.id, await buffer(found.stream))
  },
})

export const rawBlob = endpoint({
  ...downloading,
  path: '/projects/:id/repository/blobs/:sha/raw',
  summary: 'Get the content of a blob',
  input: z.object({ sha: text, lfs: blankable(bool) }),
  output: bytes,
  async handle({ app, subject, input }) {
    await assertGiven(subject.dir, input.sha)
    const large = input.lfs ? await openLargeFile(app, subject, input.sha) : null
    return answerRaw(large ?? (await openExactly(subject.dir, input.sha)))
  },
})

const archiveInput = {
  sha: blankable(text),
  path: blankable(text),
  exclude_paths: blankable(listOf(text)),
  include_lfs_blobs: blankable(bool),
}

export const archive = endpoint({
  ...downloading,
  path: '/projects/:id/repository/archive',
  summary: 'Get the files of a commit in one archive',
  costly: true,
  input: z.object({ ...archiveInput, format: blankable(text) }),
  output: bytes,
  handle: ({ app, subject, input }) =>
    answerArchive(app, subject, archiveFormat(input.format ?? '') ?? 'tar.gz', input),
})

export const archiveAs = endpoint({
  ...downloading,
  path: '/projects/:id/repository/archive.:format',
  summary: 'Get the files of a commit in one archive of a given format',
  costly: true,
  input: z.object({ ...archiveInput, format: text }),
  output: bytes,
  async handle({ app, subject, input }) {
    const format = archiveFormat(input.format)
    // Another extension is another URL, and nothing exists there.
    if (!format) throw new Refusal('not_found', '404 Not Found', { as: 'error' })
    return answerArchive(app, subject, format, input)
  },
})

export const compare = endpoint({
  ...reading,
  path: '/projects/:id/repository/compare',
  summary: 'Compare branches, tags or commits',
  costly: true,
  input: z.object({
    from: filledText,
    to: filledText,
    straight: blankable(bool),
    from_project_id: blankable(id),
    unidiff: blankable(bool),
    ...diffLooks,
  }),
  output: CompareEntity,
  async handle({ app, viewer, subject, input }) {
    const { from, to, from_project_id: other } = input
    const fromDir = other ? await repositoryOf(app, viewer, other) : undefined
    const ignoreSpaces = input.ignore_whitespace ?? false
    const request = { from, to, straight: input.straight ?? false, fromDir, ignoreSpaces }
    const comparison = await compareRefs(subject.dir, request)
    const shown = presentComparison(comparison, { url: webUrlOf(app, subject), unidiff: input.unidiff ?? true })
    return input.render_html ? { ...shown, diffs: await markDiffs(app, shown.diffs) } : shown
  },
})

type Order = (a: Contributor, b: Contributor) => number
const ORDERS: Readonly<Record<'name' | 'email' | 'commits', Order>> = {
  name: (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0),
  email: (a, b) => (a.email < b.email ? -1 : a.email > b.email ? 1 : 0),
  commits: (a, b) => a.commits - b.commits,
}

export const contributors = endpoint({
  ...reading,
  path: '/projects/:id/repository/contributors',
  summary: 'List those who wrote the commits of a repository',
  costly: true,
  input: z.object({
    ref: blankable(text),
    order_by: blankable(oneOf('name', 'email', 'commits')),
    sort: blankable(oneOf('asc', 'desc')),
  }),
  output: pageOf(ContributorEntity),
  async handle({ subject, input, page }) {
    const commit = await resolveCommit(subject.dir, revision(subject, input.ref))
    if (!commit) throw new Refusal('not_found', '404 Not Found')
    const order = ORDERS[input.order_by ?? 'commits']
    const all = (await listContributors(subject.dir, commit)).toSorted(
      input.sort === 'desc' ? (a, b) => order(b, a) : order,
    )
    const { items, total } = pageOfArray(all, page)
    return { items: items.map(presentContributor), total }
  },
})

export const mergeBase = endpoint({
  ...reading,
  path: '/projects/:id/repository/merge_base',
  summary: 'Get the newest commit that all of these have in common',
  input: z.object({ refs: listOf(text) }),
  output: CommitEntity,
  async handle({ app, subject, input: { refs } }) {
    if (refs.length < 2) throw new Refusal('bad_request', 'Provide at least 2 refs')
    const ids = await resolveCommits(subject.dir, refs)
    const unknown = refs.filter((_, n) => ids[n] === null)
    if (unknown.length > 0) {
      throw new Refusal('bad_request', `Could not find ref${unknown.length > 1 ? 's' : ''}: ${unknown.join(', ')}`)
    }
    const base = await findMergeBase(subject.dir, refs)
    const commit = base && (await findCommit(subject.dir, base))
    if (!commit) throw notFound('Merge Base')
    return presentCommit(commit, { url: webUrlOf(app, subject) })
  },
})
