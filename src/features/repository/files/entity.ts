import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { BlameGroup } from '../../../git/history/blame.ts'
import { people, presentPeople } from '../commits/entity.ts'
import type { DigestedFile, FileAtCommit } from './queries.ts'
import { KINDS, type FileKind } from './rendering.ts'

export const FileEntity = entity({
  file_name: z.string(),
  file_path: z.string(),
  size: z.int(),
  encoding: z.literal('base64'),
  content: z.string(),
  content_sha256: z.string(),
  ref: z.string(),
  blob_id: z.string(),
  commit_id: z.string(),
  last_commit_id: z.string(),
  execute_filemode: z.boolean(),
}).meta({ id: 'RepositoryFile' })

const isExecutable = ({ entry }: FileAtCommit) => entry.mode === '100755'

/** Without the content; the answer streams the content later. */
export function presentFile(file: DigestedFile): z.infer<typeof FileEntity> & { content: '' } {
  const { entry } = file
  return {
    file_name: entry.name,
    file_path: entry.path,
    size: file.size,
    encoding: 'base64',
    content: '',
    content_sha256: file.digest,
    ref: file.ref,
    blob_id: entry.id,
    commit_id: file.commit,
    last_commit_id: file.lastCommit,
    execute_filemode: isExecutable(file),
  }
}

/** All facts about the file except its content. */
export function describingHeaders(file: FileAtCommit & { size: number; digest?: string }): Record<string, string> {
  return {
    'X-Gitlab-Blob-Id': file.entry.id,
    'X-Gitlab-Commit-Id': file.commit,
    ...(file.digest !== undefined && { 'X-Gitlab-Content-Sha256': file.digest }),
    'X-Gitlab-Encoding': 'base64',
    'X-Gitlab-Execute-Filemode': String(isExecutable(file)),
    'X-Gitlab-File-Name': headerText(file.entry.name),
    'X-Gitlab-File-Path': headerText(file.entry.path),
    'X-Gitlab-Last-Commit-Id': file.lastCommit,
    'X-Gitlab-Ref': headerText(file.ref),
    'X-Gitlab-Size': String(file.size),
  }
}

/**
 * Headers carry bytes, so the text is UTF-8. Control characters and `%` are percent-encoded, because they could end the
 * header or look like an escape.
 */
function headerText(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return Buffer.from(text.replaceAll(/[\0-\x1f\x7f%]/g, encodeURIComponent)).toString('latin1')
}

/** A file in the form for pages. */
export const FileViewEntity = entity({
  file_name: z.string(),
  file_path: z.string(),
  size: z.int(),
  ref: z.string(),
  blob_id: z.string(),
  commit_id: z.string(),
  last_commit_id: z.string(),
  execute_filemode: z.boolean(),
  kind: z.enum(KINDS),
  /** Only for Markdown. */
  html: z.string().nullable(),
  /** Each line as HTML. */
  lines: z.array(z.string()).nullable(),
  /** The file has more lines. */
  is_cut: z.boolean(),
  /** An image as a data URL, which cannot run scripts. */
  picture: z.string().nullable(),
}).meta({ id: 'FileView' })

export interface RenderedFile {
  readonly kind: FileKind
  readonly html?: string | null
  readonly lines?: string[] | null
  readonly isCut?: boolean
  readonly picture?: string | null
}

export function presentFileView(
  file: FileAtCommit & { readonly size: number },
  { kind, html = null, lines = null, isCut = false, picture = null }: RenderedFile,
): z.infer<typeof FileViewEntity> {
  const { entry } = file
  return {
    file_name: entry.name,
    file_path: entry.path,
    size: file.size,
    ref: file.ref,
    blob_id: entry.id,
    commit_id: file.commit,
    last_commit_id: file.lastCommit,
    execute_filemode: isExecutable(file),
    kind,
    html,
    lines,
    is_cut: isCut,
    picture,
  }
}

export const FileWriteEntity = entity({ file_path: z.string(), branch: z.string() }).meta({ id: 'FileWrite' })

export const BlameEntity = entity({
  commit: entity({
    id: z.string(),
    parent_ids: z.array(z.string()),
    message: z.string(),
    ...people,
  }),
  lines: z.array(z.string()),
  /** With `render_html`: each line as HTML with syntax highlighting. Null without highlighting. */
  lines_html: z.array(z.string()).nullable().optional(),
}).meta({ id: 'Blame' })

export function presentBlame({ commit, lines }: BlameGroup): z.infer<typeof BlameEntity> {
  return {
    commit: {
      id: commit.id,
      parent_ids: [...commit.parents],
      message: commit.message,
      ...presentPeople(commit),
    },
    lines: [...lines],
  }
}
