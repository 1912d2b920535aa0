import { pageBelow } from '../../../lib/net/page-below.ts'
import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Diff } from '../../../git/history/diffs.ts'
import type { Contributor } from '../../../git/history/stats.ts'
import type { TreeEntry } from '../../../git/objects/trees.ts'
import { CommitEntity, DiffEntity, presentCommit, presentDiff } from '../commits/entity.ts'

export const TreeEntryEntity = entity({
  id: z.string(),
  name: z.string(),
  type: z.enum(['tree', 'blob', 'commit']),
  path: z.string(),
  mode: z.string(),
}).meta({ id: 'TreeEntry' })

export function presentTreeEntry({ id, name, type, path, mode }: TreeEntry): z.infer<typeof TreeEntryEntity> {
  return { id, name, type, path, mode }
}

export const PathsEntity = entity({
  paths: z.array(z.string()),
  /** There are more entries. */
  is_cut: z.boolean(),
}).meta({ id: 'RepositoryPaths' })

export const TreeCommitEntity = entity({
  name: z.string(),
  path: z.string(),
  /** Null if the commit was not found within the time limit. */
  commit: CommitEntity.nullable(),
}).meta({ id: 'TreeCommit' })

export const BlobEntity = entity({
  size: z.int(),
  encoding: z.literal('base64'),
  content: z.string(),
  sha: z.string(),
}).meta({ id: 'Blob' })

export function presentBlob(id: string, content: Buffer): z.infer<typeof BlobEntity> {
  return { size: content.length, encoding: 'base64', content: content.toString('base64'), sha: id }
}

export const CompareEntity = entity({
  commit: CommitEntity.nullable(),
  commits: z.array(CommitEntity),
  diffs: z.array(DiffEntity),
  compare_timeout: z.boolean(),
  compare_same_ref: z.boolean(),
  web_url: z.string(),
}).meta({ id: 'Compare' })

export interface Comparison {
  /** The ref as the caller wrote it. */
  readonly from: string
  readonly to: string
  /** Oldest first. */
  readonly commits: readonly Commit[]
  readonly diff: Diff
  readonly isSame: boolean
}

export function presentComparison(
  { from, to, commits, diff, isSame }: Comparison,
  { url, unidiff }: { url: string; unidiff: boolean },
): z.infer<typeof CompareEntity> {
  const shown = commits.map((commit) => presentCommit(commit, { url }))
  return {
    commit: shown.at(-1) ?? null,
    commits: shown,
    diffs: diff.files.map((file) => presentDiff(file, { unidiff })),
    compare_timeout: diff.overflow,
    compare_same_ref: isSame,
    web_url: pageBelow(url, `compare/${encodeURIComponent(from)}...${encodeURIComponent(to)}`),
  }
}

export const ContributorEntity = entity({
  name: z.string(),
  email: z.string(),
  commits: z.int(),
  additions: z.int(),
  deletions: z.int(),
}).meta({ id: 'Contributor' })

/** The server does not count lines, but clients expect the fields. */
export function presentContributor({ name, email, commits }: Contributor): z.infer<typeof ContributorEntity> {
  return { name, email, commits, additions: 0, deletions: 0 }
}
