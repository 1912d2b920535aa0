/** Uploads archives and reports of a job, and downloads archives of earlier jobs. */
import { rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import { BadZip } from '../../lib/zip/reader.ts'
import { zipOf } from '../../lib/zip/writer.ts'
import { collectFiles, contentOf, TooManyFiles, zipInputs, type BuildFolder } from './collecting.ts'
import { extractZip } from './extracting.ts'
import { JobFailed, type Artifact, type Dependency } from './job.ts'
import type { Variables } from './variables.ts'

export interface Upload {
  readonly filename: string
  readonly type: string
  readonly format: string
  readonly expireIn: string
  /** A new stream for every attempt. */
  content(): AsyncIterable<Uint8Array>
}

/** Stores and loads archives: on a server or in a folder. */
export interface ArtifactDoor {
  /** Writes the archive to the file. */
  download(dependency: Dependency, file: string, signal: AbortSignal): Promise<void>
  upload(upload: Upload, signal: AbortSignal): Promise<void>
}

/** The job's log shows the message. */
export class ArtifactsRefused extends Error {
  override name = 'ArtifactsRefused'
  /** The server was unavailable in all attempts. */
  readonly isTemporary: boolean
  constructor(message: string, { isTemporary = false } = {}) {
    super(message)
    this.isTemporary = isTemporary
  }
}

export interface ArtifactJob {
  readonly variables: Variables
  readonly buildFolder: BuildFolder
  readonly door: ArtifactDoor
  readonly temporary: string
  readonly signal: AbortSignal
}

export async function downloadArtifacts(given: ArtifactJob, dependency: Dependency): Promise<void> {
  const { buildFolder, door, temporary, signal } = given
  await buildFolder.say(`Downloading artifacts for ${dependency.name} (${dependency.id})...`)
  const file = join(temporary, `artifacts-${dependency.id}.zip`)
  try {
    await door.download(dependency, file, signal)
    await extractZip(file, buildFolder.root, { signal })
    await buildFolder.say(`Downloading artifacts from coordinator... ok  id=${dependency.id}`)
  } catch (error) {
    if (error instanceof BadZip) throw new JobFailed('runner_system_failure', `the archive ${error.message}`)
    if (error instanceof ArtifactsRefused) throw new JobFailed('runner_system_failure', error.message, error)
    throw error
  } finally {
    await rm(file, { force: true })
  }
}

export async function uploadArtifacts(given: ArtifactJob, artifact: Artifact): Promise<void> {
  const { variables, buildFolder, door, signal } = given
  const all = (paths: readonly string[]) => paths.map((path) => variables.expand(path)).filter(Boolean)
  await buildFolder.say('Uploading artifacts...')
  let files: string[]
  try {
    const selection = { paths: all(artifact.paths), exclude: all(artifact.exclude), untracked: artifact.untracked }
    files = await collectFiles(buildFolder, selection)
  } catch (error) {
    if (error instanceof TooManyFiles) throw new JobFailed('script_failure', `artifacts have ${error.message}`)
    throw error
  }
  if (files.length === 0) return buildFolder.warn('No files to upload')
  const upload = uploadOf(given, artifact, files)
  try {
    await door.upload(upload, signal)
    await buildFolder.say(`Uploading artifacts as "${upload.type}" to coordinator... 201 Created`)
  } catch (error) {
    if (error instanceof ArtifactsRefused) throw new JobFailed('script_failure', error.message)
    throw error
  }
}

function uploadOf({ variables, buildFolder }: ArtifactJob, artifact: Artifact, files: string[]): Upload {
  const format = artifact.artifact_format || 'zip'
  const type = artifact.artifact_type || 'archive'
  const name = basename(variables.expand(artifact.name)).replace(/["\\\p{Cc}]/gu, '_') || 'artifacts'
  const shared = { type, format, expireIn: variables.expand(artifact.expire_in) }
  const paths = files.map((file) => join(buildFolder.root, file))
  if (format === 'gzip') return { ...shared, filename: `${name}.gz`, content: () => gzipped(paths) }
  if (format === 'raw') {
    if (paths.length > 1) throw new JobFailed('script_failure', 'only one file can be sent as raw')
    return { ...shared, filename: name, content: () => contentOf(paths[0]!) }
  }
  const level = compressionLevel(variables.get('ARTIFACT_COMPRESSION_LEVEL'))
  return { ...shared, filename: `${name}.zip`, content: () => zipOf(zipInputs(buildFolder.root, files), { level }) }
}

/** One gzip member for each file. Together they unpack to one text. */
async function* gzipped(paths: string[]): AsyncGenerator<Buffer> {
  for (const path of paths) {
    const source = Readable.from(contentOf(path), { objectMode: false })
    const gzip = createGzip()
    source.once('error', (error) => gzip.destroy(error))
    try {
      yield* source.pipe(gzip) as AsyncIterable<Buffer>
    } catch (error) {
      // A pattern may also match folders, which have no content to send.
      if ((error as NodeJS.ErrnoException).code !== 'EISDIR') throw error
    } finally {
      source.destroy()
      gzip.destroy()
    }
  }
}

const LEVELS: Record<string, number> = { fastest: 1, fast: 3, default: 6, slow: 8, slowest: 9 }

export const compressionLevel = (name: string): number => LEVELS[name] ?? LEVELS.default!
