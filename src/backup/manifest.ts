/**
 * The format of a backup. An archive holds immutable objects, named by the SHA-256 of their content, and manifests. A
 * manifest lists moments: the first one is complete, each later one holds what has changed since the one before.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'

/** Format 1 lists all refs in the record of a repository. */
export const FORMAT = 2

const digest = z.string().regex(/^[0-9a-f]{64}$/)

const moment = z.object({ time: z.iso.datetime(), content: digest })

const manifest = z.object({
  format: z.union([z.literal(1), z.literal(FORMAT)]),
  /** The version of Mortise that made the backup. */
  version: z.string(),
  engine: z.enum(['sqlite', 'postgres']),
  /** Names the instance; absent in the first backups. */
  instance: digest.optional(),
  /** The migrations of the database. */
  schema: z.array(z.string()),
  /** The key of the instance, only if the operator wished it to be part of the backup. */
  secret_key: z.string().optional(),
  /** Oldest first; at least one. */
  moments: z.array(moment).min(1),
})

export type Moment = z.infer<typeof moment>
export type Manifest = z.infer<typeof manifest>

/** A part of a backup is missing or not as it was written. */
export class Damaged extends Error {}

/** A later version has made the backup. */
export class TooNew extends Error {}

/** The checksum is that of all other lines. */
export function manifestText(content: Manifest): string {
  const text = JSON.stringify(content, null, 1)
  return `${text.slice(0, -2)},\n "checksum": "${hash('sha256', text)}"\n}\n`
}

export function parseManifest(name: string, text: string): Manifest {
  const [, before, checksum] = /^([^]*),\n "checksum": "([0-9a-f]{64})"\n\}\n$/.exec(text) ?? []
  if (before === undefined || hash('sha256', `${before}\n}`) !== checksum) throw new Damaged(`${name} is damaged`)
  const content = JSON.parse(`${before}\n}`) as { format?: unknown }
  if (content.format !== 1 && content.format !== FORMAT)
    throw new TooNew(`${name} was made by a later version of Mortise: restore it with that version`)
  const parsed = manifest.safeParse(content)
  if (!parsed.success) throw new Damaged(`${name} is damaged`)
  return parsed.data
}

/** Names sort by time. */
export const manifestName = (time: string, unique: string): string =>
  `manifest-${time.replaceAll(/[:.]/g, '-')}-${unique}.json`

export const isManifestName = (name: string): boolean => /^manifest-[\w-]+\.json$/.test(name)

/** A file in parts of limited size. */
const parts = z.object({ size: z.int().min(0), parts: z.array(digest) })
export type Parts = z.infer<typeof parts>

/** A pack with its index and the other files of the same name. */
const pack = z.object({ name: z.string().regex(/^pack-[0-9a-f]{40}$/), files: z.record(z.string(), parts) })
export type Pack = z.infer<typeof pack>

/** Object ids by full name of the ref. */
export const refList = z.record(z.string(), z.string())

/** Digests of lists, by bucket, and the number of refs in all of them. */
const refBuckets = z.strictObject({ count: z.int(), buckets: z.array(digest) })

const storedRefs = z.union([refBuckets, refList])
export type StoredRefs = z.infer<typeof storedRefs>

export const hasBuckets = (refs: StoredRefs): refs is z.infer<typeof refBuckets> => Array.isArray(refs['buckets'])

export const repositoryRecord = z.object({
  /** The branch that HEAD names. */
  head: z.string(),
  refs: storedRefs,
  packs: z.array(pack),
  /** The repository of the same storage whose objects this one uses. */
  pool: z.string().nullable(),
  /** The list of objects that the repository does not serve. */
  withheld: parts.nullable(),
  /** The state of the files, to skip an unchanged repository. */
  state: z.string(),
})
export type RepositoryRecord = z.infer<typeof repositoryRecord>

/** A SQLite file as an image in chunks, or the pages that have changed since the moment before. */
const sqlitePart = z.object({
  page_size: z.int().min(512).max(65_536),
  /** The number of pages at this moment. */
  pages: z.int().min(1),
  image: digest.optional(),
  delta: z.array(digest).optional(),
})
export type SqlitePart = z.infer<typeof sqlitePart>

/** The rows of PostgreSQL: objects with lines of JSON, by table; all tables, or those that have changed. */
const rowsPart = z.object({
  tables: z.record(z.string(), z.array(digest)),
  sequences: z.record(z.string(), z.object({ value: z.string().regex(/^\d+$/), is_called: z.boolean() })),
})
export type RowsPart = z.infer<typeof rowsPart>

const databasePart = z.union([sqlitePart, rowsPart])
export type DatabasePart = z.infer<typeof databasePart>

export const imageList = z.object({
  chunk_pages: z.int(),
  /** Digests of each chunk: of its bytes, and of the compressed object. */
  chunks: z.array(z.tuple([digest, digest])),
})
export type ImageList = z.infer<typeof imageList>

export const momentContent = z.object({
  database: databasePart,
  /** Digests of records, by `storage/path`; null for a repository that is gone. */
  repositories: z.record(z.string(), digest.nullable()),
  /** Objects that list the digests of blobs: all of them, or those that were added. */
  blobs: z.array(digest),
  /** Files of the data folder, encrypted with the key of the instance. */
  sealed_files: z.record(z.string(), z.string()).optional(),
  /** What the moment holds. Rows are counted in complete moments only: to count them is to read all of them. */
  counts: z.object({
    rows: z.record(z.string(), z.int()).optional(),
    repositories: z.int(),
    refs: z.int(),
    blobs: z.int(),
  }),
})
export type MomentContent = z.infer<typeof momentContent>

export const blobList = z.array(digest)
