/** Answers of artifact downloads. */
import { Readable } from 'node:stream'
import { basename, extname } from 'node:path/posix'
import { Answer } from '../../../api/endpoint.ts'
import type { App } from '../../../context.ts'
import { badParameter, forbidden, notFound } from '../../../errors.ts'
import { SANDBOXED, disposition } from '../../../lib/net/file-headers.ts'
import { Developer, Master } from '../../../lib/levels.ts'
import { readRange } from '../../../lib/net/ranges.ts'
import { BadZip } from '../../../lib/zip/reader.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { archiveOf, fileIn, type ArchivedFile } from './archives.ts'
import type { Artifact, Job } from './model.ts'
import { optionsOf } from './options.ts'

const LEAST = { all: 0, developer: Developer, maintainer: Master, none: Infinity } as const

/** Applies `artifacts:access` of the job. */
export const seesArtifacts = ({ level }: Pick<RepositorySubject, 'level'>, job: Job): boolean =>
  level >= LEAST[optionsOf(job).artifacts?.access ?? 'all']

export function assertSeesArtifacts(subject: Pick<RepositorySubject, 'level'>, job: Job): void {
  if (!seesArtifacts(subject, job)) throw forbidden()
}

export interface DownloadOptions {
  readonly range: string | undefined
  readonly isHead: boolean
}

export async function answerArchive(app: App, job: Job, input: DownloadOptions): Promise<Answer> {
  const artifact = await archiveOf(app, job.id)
  if (!artifact) throw notFound()
  return answerBytes(app, artifact, input)
}

async function answerBytes(app: App, artifact: Artifact, { range, isHead }: DownloadOptions): Promise<Answer> {
  const { size, digest, filename } = artifact
  const headers = {
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': disposition('attachment', filename),
    'Content-Transfer-Encoding': 'binary',
    'Accept-Ranges': 'bytes',
    ETag: `"${digest}"`,
    ...SANDBOXED,
  }
  const piece = isHead ? null : readRange(range, size)
  if (piece === 'unsatisfiable') return new Answer(416, undefined, { 'Content-Range': `bytes */${size}` })
  const blob = isHead ? { stream: Readable.from([]) } : await app.blobs.open(digest, piece ?? undefined)
  if (!blob) throw notFound()
  const { start, end } = piece ?? { start: 0, end: size - 1 }
  return new Answer(piece ? 206 : 200, blob.stream, {
    ...headers,
    'Content-Length': String(end - start + 1),
    ...(piece && { 'Content-Range': `bytes ${start}-${end}/${size}` }),
  })
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.txt': 'text/plain',
  '.log': 'text/plain',
  '.css': 'text/css',
  '.csv': 'text/csv',
  '.md': 'text/markdown',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.xml': 'application/xml',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.svg': 'image/svg+xml',
  '.zip': 'application/zip',
  '.gz': 'application/gzip',
  '.tar': 'application/x-tar',
}

/** Reads the first bytes before the answer starts. A file that is broken from the start answers as missing. */
async function begun({ archive, entry }: ArchivedFile): Promise<AsyncIterable<Buffer>> {
  const bytes = archive.read(entry)
  let first: IteratorResult<Buffer> | null = await bytes.next().catch((error: unknown) => {
    throw error instanceof BadZip ? notFound() : error
  })
  const next = async () => {
    const given = first ?? (await bytes.next())
    first = null
    return given
  }
  return { [Symbol.asyncIterator]: () => ({ next, return: () => bytes.return(undefined) }) }
}

/** Sends one file of the archive and unpacks it on the way. */
export async function answerFile(app: App, job: Job, path: string): Promise<Answer> {
  if (path.includes('\0') || path.includes('\ufffd')) throw badParameter('artifact_path is invalid')
  const artifact = await archiveOf(app, job.id)
  const file = artifact ? await fileIn(app, artifact, path) : null
  if (!file) throw notFound()
  return new Answer(200, Readable.from(await begun(file), { objectMode: false }), {
    'Content-Type': TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream',
    'Content-Disposition': disposition('attachment', basename(path)),
    'Content-Length': String(file.entry.size),
    ...SANDBOXED,
  })
}
