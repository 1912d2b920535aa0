import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Diff } from '../../../git/history/diffs.ts'
import { CommitEntity, DiffEntity, presentCommit, presentDiff } from '../../repository/commits/entity.ts'
import { MergeRequestDetailEntity } from '../merge-requests/entity.ts'
import { changesCount } from './measure.ts'
import type { Version } from './model.ts'

const version = {
  id: z.int(),
  merge_request_id: z.int(),
  head_commit_sha: z.string().nullable(),
  base_commit_sha: z.string().nullable(),
  start_commit_sha: z.string().nullable(),
  created_at: timestampOut,
  state: z.enum(['empty', 'collected', 'overflow']),
  real_size: z.string().nullable(),
  patch_id_sha: z.string().nullable(),
}

export const VersionEntity = entity(version).meta({ id: 'MergeRequestVersion' })

export const VersionDetailEntity = entity({
  ...version,
  commits: z.array(CommitEntity),
  diffs: z.array(DiffEntity),
}).meta({ id: 'MergeRequestVersionDetail' })

export function presentVersion(one: Version): z.infer<typeof VersionEntity> {
  return {
    id: one.id,
    merge_request_id: one.merge_request_id,
    head_commit_sha: one.head_sha,
    base_commit_sha: one.base_sha,
    start_commit_sha: one.start_sha,
    created_at: one.created_at,
    state: one.files === 0 ? 'empty' : one.overflow ? 'overflow' : 'collected',
    real_size: changesCount(one),
    patch_id_sha: one.patch_id,
  }
}

/** `url` is the URL of the project. */
interface Visible {
  readonly url: string
  readonly unidiff: boolean
}

export function presentVersionDetail(
  one: Version,
  { commits, diff }: { commits: readonly Commit[]; diff: Diff },
  { url, unidiff }: Visible,
): z.infer<typeof VersionDetailEntity> {
  return {
    ...presentVersion(one),
    commits: commits.map((commit) => presentCommit(commit, { url })),
    diffs: diff.files.map((file) => presentDiff(file, { unidiff })),
  }
}

export const ChangesEntity = MergeRequestDetailEntity.extend({
  changes: z.array(DiffEntity),
  /** The list of files is incomplete. */
  overflow: z.boolean(),
}).meta({ id: 'MergeRequestChanges' })

export const VersionComparisonEntity = entity({
  from: VersionEntity,
  to: VersionEntity,
  /** The bases differ: the older version is shown rebased onto the newer base. */
  rebased: z.boolean(),
  commits: entity({
    added: z.array(CommitEntity),
    removed: z.array(CommitEntity),
    /** The same change in both versions, under the same or another id. */
    kept: z.array(entity({ from: z.string(), to: z.string() })),
  }),
  /** `conflict`: the file could not be rebased, so its diff also contains changes of the new base. */
  diffs: z.array(DiffEntity.extend({ conflict: z.boolean() })),
  overflow: z.boolean(),
}).meta({ id: 'MergeRequestVersionComparison' })

export interface VersionComparison {
  readonly from: Version
  readonly to: Version
  readonly rebased: boolean
  readonly added: readonly Commit[]
  readonly removed: readonly Commit[]
  readonly kept: readonly { readonly from: string; readonly to: string }[]
  readonly diff: Diff
  /** Paths in conflict. */
  readonly conflicts: ReadonlySet<string>
  readonly overflow: boolean
}

export function presentComparison(
  compared: VersionComparison,
  { url, unidiff }: Visible,
): z.infer<typeof VersionComparisonEntity> {
  const { from, to, rebased, added, removed, kept, diff, conflicts, overflow } = compared
  const shown = (commits: readonly Commit[]) => commits.map((commit) => presentCommit(commit, { url }))
  return {
    from: presentVersion(from),
    to: presentVersion(to),
    rebased,
    commits: { added: shown(added), removed: shown(removed), kept: [...kept] },
    diffs: diff.files.map((file) => ({
      ...presentDiff(file, { unidiff }),
      conflict: conflicts.has(file.oldPath) || conflicts.has(file.newPath),
    })),
    overflow,
  }
}
