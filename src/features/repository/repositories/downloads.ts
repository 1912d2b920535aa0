/** Bytes of a repository as files: headers that keep a browser from taking them for a page, and archives. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { Answer } from '../../../api/endpoint.ts'
import { Refusal, notFound } from '../../../errors.ts'
import { archive, canArchive, type ArchiveFormat } from '../../../git/archive.ts'
import { resolveCommit } from '../../../git/commits.ts'
import type { OpenBlob } from '../../../git/objects.ts'
import type { RepositorySubject } from './policy.ts'

/** Ids name content, so what was fetched once may be asked about again and never changes. */
const cacheable = (tag: string) => ({ ETag: `"${tag}"`, 'Cache-Control': 'max-age=0, private, must-revalidate' })

export const answerRaw = ({ id, size, stream }: OpenBlob): Answer =>
  new Answer(200, stream, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Disposition': 'inline',
    'Content-Length': String(size),
    'Content-Security-Policy': "default-src 'none'; sandbox",
    ...cacheable(id),
  })

/** The record of a blob that is too large to be held: written as it is read. */
export const answerLargeBlob = (blob: OpenBlob): Answer =>
  new Answer(200, Readable.from(recordOf(blob), { objectMode: false }), {
    'Content-Type': 'application/json',
    ...cacheable(blob.id),
  })

async function* recordOf({ id, size, stream }: OpenBlob): AsyncGenerator<string> {
  yield `{"size":${size},"encoding":"base64","content":"`
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk])
    // Three bytes are four letters: only whole groups can be put one behind the other.
    const whole = bytes.length - (bytes.length % 3)
    yield bytes.toString('base64', 0, whole)
    rest = bytes.subarray(whole)
  }
  yield `${rest.toString('base64')}","sha":"${id}"}`
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

export interface ArchiveWish {
  readonly sha?: string | null | undefined
  readonly path?: string | null | undefined
}

/** `<project>-<ref>-<commit>`, in a folder of the same name. */
export async function answerArchive(
  { project, dir }: RepositorySubject,
  format: ArchiveFormat,
  { sha, path }: ArchiveWish,
): Promise<Answer> {
  if (!(await canArchive(format))) throw new Refusal('not_acceptable', `406 Not Acceptable - no ${format} here`)
  const commit = await resolveCommit(dir, sha || `refs/heads/${project.default_branch}`)
  if (!commit) throw notFound('File')
  const folder = (path ?? '').replace(/^\/+|\/+$/g, '')
  const parts = [project.path, sha || project.default_branch, commit, ...(folder === '' ? [] : [folder])]
  const name = parts.join('-').replaceAll('/', '-')
  const stream = await archive(dir, commit, { format, prefix: name, path: folder })
  if (!stream) throw notFound('File')
  return new Answer(200, stream, {
    'Content-Type': format === 'zip' ? 'application/zip' : 'application/octet-stream',
    'Content-Disposition': attachment(`${name}.${format}`),
    ...cacheable(createHash('sha256').update(`${name}.${format}`).digest('hex').slice(0, 40)),
  })
}

function attachment(filename: string): string {
  const ascii = filename.replace(/[^\x20-\x7e]|["\\]/g, '_')
  const exact = ascii === filename ? '' : `; filename*=UTF-8''${encodeURIComponent(filename)}`
  return `attachment; filename="${ascii}"${exact}`
}
