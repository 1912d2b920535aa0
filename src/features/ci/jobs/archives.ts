/** Reads single files of artifact archives without unpacking the rest. */
import type { Readable } from 'node:stream'
import type { App } from '../../../context.ts'
import { BadZip, isPossible, openZip, type ZipArchive, type ZipEntry, type ZipLimits } from '../../../lib/zip/reader.ts'
import { isLive } from './artifacts.ts'
import type { Artifact } from './model.ts'

const LARGEST_TEXT = 1024 * 1024

/** The archive of a job, if it exists and has not expired. */
export async function archiveOf(app: App, job: number): Promise<Artifact | null> {
  return (
    (await app.db
      .selectFrom('ci_artifacts')
      .selectAll()
      .where('job_id', '=', job)
      .where('file_type', '=', 'archive')
      .where(isLive(app))
      .executeTakeFirst()) ?? null
  )
}

export interface ArchivedFile {
  readonly archive: ZipArchive
  readonly entry: ZipEntry
}

/**
 * Null if the archive has no such file. Folders, links and paths that lead outside the archive do not count as files.
 */
export async function fileIn(app: App, artifact: Artifact, path: string): Promise<ArchivedFile | null> {
  try {
    const archive = await openArchive(app, artifact)
    const entry = await archive.find(path)
    const isReadable = entry?.type === 'file' && entry.path !== null && !entry.isEncrypted && isPossible(entry)
    return isReadable ? { archive, entry } : null
  } catch (error) {
    if (error instanceof BadZip) return null
    throw error
  }
}

export const openArchive = (
  app: App,
  { size, digest }: Artifact,
  limits: Partial<ZipLimits> = {},
): Promise<ZipArchive> => openZip({ size, read: (start, end) => bytesOf(app, digest, start, end) }, limits)

async function* bytesOf(app: App, digest: string, start: number, end: number): AsyncGenerator<Uint8Array> {
  if (end <= start) return
  const blob = await app.blobs.open(digest, { start, end: end - 1 })
  if (!blob) throw new BadZip('is gone')
  yield* blob.stream as Readable & AsyncIterable<Uint8Array>
}

/** Reads a text file from the artifacts of the newest job with this name in a pipeline. */
export async function readArtifactText(app: App, pipeline: number, job: string, path: string): Promise<string | null> {
  const found = await app.db
    .selectFrom('ci_jobs')
    .select('id')
    .where('pipeline_id', '=', pipeline)
    .where('name', '=', job)
    .where('retried', '=', false)
    .executeTakeFirst()
  const artifact = found ? await archiveOf(app, found.id) : null
  const file = artifact ? await fileIn(app, artifact, path) : null
  if (!file || file.entry.size > LARGEST_TEXT) return null
  const chunks: Buffer[] = []
  for await (const chunk of file.archive.read(file.entry)) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
