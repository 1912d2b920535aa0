/** Answers with repository content: blobs, records with a blob, and archives. */
import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Answer } from '../../../api/endpoint.ts'
import type { App } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { canArchive, prepareArchive, type ArchiveFormat } from '../../../git/objects/archive.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import type { OpenBlob } from '../../../git/objects/objects.ts'
import { SANDBOXED, disposition } from '../../../lib/net/file-headers.ts'
import { withoutSlashes } from '../../../lib/text/trimming.ts'
import { archiveFile, makeArchive, openArchive } from './archives.ts'
import { largeFilesOf, mayHaveLargeFiles } from './large-files.ts'
import type { RepositorySubject } from './policy.ts'

/** Ids name content, which never changes, so clients may cache it and revalidate. */
export const cacheable = (tag: string) => ({ ETag: `"${tag}"`, 'Cache-Control': 'max-age=0, private, must-revalidate' })

export const answerRaw = ({ id, size, stream }: OpenBlob): Answer =>
  new Answer(200, stream, {
    'Content-Type': 'text/plain',
    'Content-Disposition': 'inline',
    'Content-Length': String(size),
    ...SANDBOXED,
    ...cacheable(id),
  })

export const answerLargeBlob = ({ id, size, stream }: OpenBlob): Answer =>
  answerRecord({ size, encoding: 'base64', content: '', sha: id }, stream, cacheable(id))

type Unfilled = Record<string, unknown> & { content: '' }

/** A record with its content. Large content is streamed. */
export function answerRecord(record: Unfilled, content: Buffer | Readable, headers: Record<string, string>): Answer {
  const body = content instanceof Readable ? streamOf(record, content) : bytesOf(record, content)
  return new Answer(200, body, { ...headers, 'Content-Type': 'application/json' })
}

const bytesOf = (record: Unfilled, content: Buffer) =>
  Buffer.from(JSON.stringify({ ...record, content: content.toString('base64') }))

function streamOf(record: Unfilled, stream: Readable): Readable {
  const body = Readable.from(piecesOf(record, stream), { objectMode: false })
  // A generator that is never started does not close its source.
  return body.once('close', () => stream.destroy())
}

async function* piecesOf(record: Unfilled, stream: Readable): AsyncGenerator<string> {
  const [before, after] = JSON.stringify(record).split('"content":""')
  yield `${before}"content":"`
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk])
    // Three bytes become four base64 characters, so only whole groups of three can be concatenated.
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield `${rest.toString('base64')}"${after}`
}

const SUFFIXES: Readonly<Record<ArchiveFormat, readonly string[]>> = {
  'tar.gz': ['tar.gz', 'tgz', 'gz'],
  'tar.bz2': ['tar.bz2', 'tbz', 'tbz2', 'tb2', 'bz2'],
  tar: ['tar'],
  zip: ['zip'],
}

export function archiveFormat(suffix: string): ArchiveFormat | null {
  const found = Object.entries(SUFFIXES).find(([, suffixes]) => suffixes.includes(suffix))
  return (found?.[0] as ArchiveFormat | undefined) ?? null
}

export interface ArchiveOptions {
  readonly sha?: string | null | undefined
  readonly path?: string | null | undefined
  readonly exclude_paths?: readonly string[] | null | undefined
  /** Replaces Git LFS pointers by their content. */
  readonly include_lfs_blobs?: boolean | null | undefined
}

/** Names the archive `<project>-<ref>-<commit>`, with a folder of the same name. */
export async function answerArchive(
  app: App,
  subject: RepositorySubject,
  format: ArchiveFormat,
  { sha, path, exclude_paths, include_lfs_blobs }: ArchiveOptions,
): Promise<Answer> {
  const { project, dir } = subject
  if (!(await canArchive(format)))
    throw new Refusal('not_acceptable', `406 Not Acceptable - ${format} is not available`)
  const commit = await resolveCommit(dir, sha || `refs/heads/${project.default_branch}`)
  if (!commit) throw notFound('File')
  const folder = withoutSlashes(path ?? '')
  const parts = [project.path, sha || project.default_branch, commit, ...(folder === '' ? [] : [folder.slice(0, 255)])]
  // oxlint-disable-next-line no-control-regex -- a folder's name may hold what the name of a file to be saved may not
  const name = parts.join('-').replaceAll(/[\0-\x1f\x7f/]/g, '-')
  const exclude = exclude_paths ?? []
  const hasLargeFiles = (include_lfs_blobs ?? true) && mayHaveLargeFiles(subject)
  // More LFS objects may have been uploaded since.
  const state = hasLargeFiles ? project.lfs_objects_size : null
  const file = archiveFile(app, project.id, hash('sha256', JSON.stringify([dir, name, format, folder, state, exclude])))
  const kept = await openArchive(app, file)
  const start = kept ? null : await prepareArchive(dir, commit, { format, prefix: name, path: folder, exclude })
  if (!kept && !start) throw notFound('File')
  const largeFiles = () => (hasLargeFiles ? largeFilesOf(app, subject, { commit, path: folder, exclude }) : null)
  return new Answer(200, kept?.body ?? makeArchive(file, () => start!(largeFiles())), {
    'Content-Type': format === 'zip' ? 'application/zip' : 'application/octet-stream',
    'Content-Disposition': disposition('attachment', `${name}.${format}`),
    ...(kept && { 'Content-Length': String(kept.size) }),
    ...SANDBOXED,
    ...cacheable(hash('sha256', [name, format, hasLargeFiles, ...exclude].join('\0')).slice(0, 40)),
  })
}
