import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { FileDiff } from '../../../git/history/diffs.ts'
import { localTime } from '../../../lib/time/local-time.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import type { Row } from '../../../store/database.ts'
import type { LineStats } from '../../../git/history/stats.ts'
import { trailersIn } from './trailers.ts'

export const people = {
  author_name: z.string(),
  author_email: z.string(),
  authored_date: timestampOut,
  committer_name: z.string(),
  committer_email: z.string(),
  committed_date: timestampOut,
}

const commit = {
  id: z.string(),
  short_id: z.string(),
  title: z.string(),
  message: z.string(),
  created_at: timestampOut,
  parent_ids: z.array(z.string()),
  ...people,
  web_url: z.string(),
  trailers: z.record(z.string(), z.string()),
  extended_trailers: z.record(z.string(), z.array(z.string())),
}

export const CommitEntity = entity(commit).meta({ id: 'Commit' })
export type CommitRecord = z.infer<typeof CommitEntity>

const stats = entity({ additions: z.int(), deletions: z.int(), total: z.int() })

/** Lists include line counts on request only. */
export const ListedCommitEntity = entity({ ...commit, stats: stats.optional() }).meta({ id: 'ListedCommit' })

export const CommitDetailEntity = entity({
  ...commit,
  project_id: z.int(),
  stats: stats.optional(),
  status: z.string().nullable(),
  last_pipeline: entity({
    id: z.int(),
    iid: z.int(),
    project_id: z.int(),
    sha: z.string(),
    ref: z.string(),
    status: z.string(),
    source: z.string(),
    created_at: timestampOut,
    updated_at: timestampOut,
    web_url: z.string(),
  }).nullable(),
}).meta({ id: 'CommitDetail' })

export type CommitPipeline = Pick<
  Row<'pipelines'>,
  'id' | 'iid' | 'project_id' | 'sha' | 'ref' | 'status' | 'source' | 'created_at' | 'updated_at'
>

/**
 * `url` is the URL of the project. Times keep their original zone. Lists of trailers are sent on request only: older
 * clients expect that field to hold texts, and fail on the whole answer otherwise.
 */
export function presentCommit(
  commit: Commit,
  { url, trailers: withTrailers }: { url: string; trailers?: boolean | null | undefined },
): CommitRecord {
  const trailers = [...trailersIn(commit.message)]
  return {
    id: commit.id,
    short_id: commit.id.slice(0, 8),
    title: commit.title || '--no commit message',
    message: commit.message,
    created_at: localTime(commit.committer),
    parent_ids: [...commit.parents],
    ...presentPeople(commit),
    web_url: pageBelow(url, `commit/${commit.id}`),
    // The names come from commit messages. `Object.fromEntries` makes even `__proto__` a plain field.
    trailers: Object.fromEntries(trailers.map(([name, values]) => [name, values.at(-1)!])),
    extended_trailers: withTrailers ? Object.fromEntries(trailers) : {},
  }
}

export function presentPeople({ author, committer }: Commit) {
  return {
    author_name: author.name,
    author_email: author.email,
    authored_date: localTime(author),
    committer_name: committer.name,
    committer_email: committer.email,
    committed_date: localTime(committer),
  }
}

export function presentStats({ additions, deletions }: LineStats): z.infer<typeof stats> {
  return { additions, deletions, total: additions + deletions }
}

export function presentCommitDetail(
  commit: Commit,
  around: { url: string; projectId: number; stats?: LineStats | undefined; pipeline: CommitPipeline | null },
): z.infer<typeof CommitDetailEntity> {
  return {
    ...presentCommit(commit, around),
    project_id: around.projectId,
    ...(around.stats && { stats: presentStats(around.stats) }),
    status: around.pipeline?.status ?? null,
    last_pipeline: around.pipeline && presentCommitPipeline(around.pipeline, around),
  }
}

const presentCommitPipeline = (pipeline: CommitPipeline, { url }: { url: string }) => ({
  id: pipeline.id,
  iid: pipeline.iid,
  project_id: pipeline.project_id,
  sha: pipeline.sha,
  ref: pipeline.ref,
  status: pipeline.status,
  source: pipeline.source,
  created_at: pipeline.created_at,
  updated_at: pipeline.updated_at,
  web_url: pageBelow(url, `pipelines/${pipeline.id}`),
})

export const DiffEntity = entity({
  old_path: z.string(),
  new_path: z.string(),
  a_mode: z.string(),
  b_mode: z.string(),
  new_file: z.boolean(),
  renamed_file: z.boolean(),
  deleted_file: z.boolean(),
  diff: z.string(),
  generated_file: z.boolean(),
  collapsed: z.boolean(),
  too_large: z.boolean(),
  /**
   * With `render_html`: each line from the first hunk on as HTML, without its sign. Null without syntax highlighting.
   */
  lines_html: z.array(z.string()).nullable().optional(),
}).meta({ id: 'Diff' })

/** Includes the header lines with both file names by default. Newer clients may ask for the hunks only. */
export function presentDiff(file: FileDiff, { unidiff = true } = {}): z.infer<typeof DiffEntity> {
  const before = file.newFile ? '/dev/null' : `a/${file.oldPath}`
  const after = file.deletedFile ? '/dev/null' : `b/${file.newPath}`
  const hasHunks = file.patch !== '' && !file.binary
  return {
    old_path: file.oldPath,
    new_path: file.newPath,
    a_mode: file.aMode,
    b_mode: file.bMode,
    new_file: file.newFile,
    renamed_file: file.renamedFile,
    deleted_file: file.deletedFile,
    diff: unidiff && hasHunks ? `--- ${before}\n+++ ${after}\n${file.patch}` : file.patch,
    generated_file: false,
    collapsed: file.collapsed,
    too_large: file.tooLarge,
  }
}
