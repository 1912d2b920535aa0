/** Finds moments in an archive, and puts the content of a moment together. */
import type { Archive } from './archive.ts'
import { CannotStart } from '../config.ts'
import {
  blobList,
  momentContent,
  parseManifest,
  type DatabasePart,
  type Manifest,
  type Moment,
  type MomentContent,
  type RowsPart,
} from './manifest.ts'

export interface BackupMoment {
  readonly name: string
  readonly manifest: Manifest
  /** The moments up to the chosen one, the complete one first. */
  readonly moments: readonly Moment[]
}

export async function newestManifest(archive: Archive): Promise<BackupMoment | null> {
  const name = (await archive.manifestNames()).at(-1)
  if (name === undefined) return null
  const manifest = parseManifest(name, await archive.readManifest(name))
  return { name, manifest, moments: manifest.moments }
}

/** The last moment that is not after `at`. */
export async function findMoment(archive: Archive, at: Date | null): Promise<BackupMoment> {
  const names = await archive.manifestNames()
  if (names.length === 0) throw new CannotStart(`${archive.label} holds no backup`)
  let oldest: string | undefined
  for (const name of names.toReversed()) {
    const manifest = parseManifest(name, await archive.readManifest(name))
    const moments = manifest.moments.filter(({ time }) => at === null || new Date(time) <= at)
    if (moments.length > 0) return { name, manifest, moments }
    oldest = manifest.moments[0]!.time
  }
  throw new CannotStart(`the oldest moment in ${archive.label} is ${oldest}`)
}

/** The state of an instance at a moment. */
export interface Content {
  /** The complete part first. */
  readonly database: readonly DatabasePart[]
  /** Digests of records, by `storage/path`. */
  readonly repositories: ReadonlyMap<string, string>
  readonly blobs: ReadonlySet<string>
  readonly sealedFiles: Readonly<Record<string, string>>
  readonly counts: MomentContent['counts']
}

export async function contentOf(archive: Archive, { moments }: Pick<BackupMoment, 'moments'>): Promise<Content> {
  const contents: MomentContent[] = []
  for (const { content } of moments) contents.push(await archive.readJson(content, momentContent))
  const repositories = new Map<string, string>()
  const blobs = new Set<string>()
  for (const content of contents) {
    for (const [key, record] of Object.entries(content.repositories)) {
      if (record === null) repositories.delete(key)
      else repositories.set(key, record)
    }
    for (const list of content.blobs) for (const digest of await archive.readJson(list, blobList)) blobs.add(digest)
  }
  return {
    database: contents.map(({ database }) => database),
    repositories,
    blobs,
    sealedFiles: Object.assign({}, ...contents.map(({ sealed_files }) => sealed_files ?? {})) as Record<string, string>,
    counts: contents.at(-1)!.counts,
  }
}

/** The rows of PostgreSQL at the last of these moments: each later one lists the tables that have changed. */
export function rowsAt(database: Content['database']): RowsPart {
  const parts = database as readonly RowsPart[]
  const tables = Object.assign({}, ...parts.map((part) => part.tables)) as RowsPart['tables']
  return { tables, sequences: parts.at(-1)!.sequences }
}
