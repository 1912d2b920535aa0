import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import type { LargeFiles } from '../../../git/objects/archive.ts'
import { isFileName } from '../../../git/objects/building.ts'
import { readObject, readObjects, type OpenBlob } from '../../../git/objects/objects.ts'
import { isFile, listTree, type TreeEntry } from '../../../git/objects/trees.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { LONGEST_POINTER, readPointer } from '../../../lib/files/lfs-pointer.ts'
import { findLfsObject, findLfsObjects } from '../lfs/queries.ts'
import type { RepositorySubject } from './policy.ts'

/**
 * Opens the content of a Git LFS pointer. Null if the blob is not a pointer. A pointer alone grants no access: the
 * project must link the object.
 */
export async function openLargeFile(
  app: App,
  { project, dir }: RepositorySubject,
  blob: string,
): Promise<OpenBlob | null> {
  if (!project.lfs_enabled) return null
  const { content } = (await readObject(dir, blob, { maxBytes: LONGEST_POINTER })) ?? {}
  const pointer = content ? readPointer(content) : null
  if (!pointer) return null
  const object = await findLfsObject(app.db, project.id, pointer.oid)
  const open = object && (await app.blobs.open(object.oid))
  if (!open) throw notFound('File')
  return { id: object.oid, ...open }
}

/** The LFS objects of an archive: all below `path`, except those in `exclude`. */
export interface LargeFileOptions {
  readonly commit: string
  readonly path: string
  readonly exclude: readonly string[]
}

export const mayHaveLargeFiles = ({ project }: RepositorySubject): boolean =>
  project.lfs_enabled && project.lfs_objects_size > 0

/** The LFS objects for an archive. */
export function largeFilesOf(app: App, subject: RepositorySubject, input: LargeFileOptions): LargeFiles {
  const folder = join(app.config.data, 'spool', randomUUID())
  return { folder, layOut: () => layOutLargeFiles(app, subject, input, folder) }
}

const FILES_AT_ONCE = 500
/** Git keeps each file in memory while it adds it to an archive. Larger files stay pointers. */
const LARGEST_ARCHIVED = 256 * 1024 * 1024

async function layOutLargeFiles(
  app: App,
  { project, dir }: RepositorySubject,
  { commit, path: within, exclude }: LargeFileOptions,
  folder: string,
): Promise<void> {
  await mkdir(folder, { recursive: true })
  const isBelow = (path: string, top: string) => `${path}/`.startsWith(`${top}/`)
  const isIncluded = (path: string) =>
    (within === '' || isBelow(path, within)) && !exclude.some((one) => isBelow(path, one))
  // The server writes files only below the folder, whatever paths a tree contains.
  const isPlain = (path: string) => path.split('/').every(isFileName)
  const entries = (await listTree(dir, commit, '', { recursive: true })) ?? []
  const files = entries.filter((entry) => isFile(entry) && isIncluded(entry.path) && isPlain(entry.path))
  for (const some of batchesOf(files, FILES_AT_ONCE)) {
    const pointers = await pointersAmong(dir, some)
    const oids = new Set(pointers.map(({ oid }) => oid))
    const objects = await findLfsObjects(app.db, project.id, [...oids])
    for (const { path, oid } of pointers) {
      const isSmallEnough = (objects.get(oid)?.size ?? Infinity) <= LARGEST_ARCHIVED
      const open = isSmallEnough ? await app.blobs.open(oid) : null
      if (!open) continue
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await pipeline(open.stream, createWriteStream(join(folder, path)))
    }
  }
}

async function pointersAmong(dir: string, files: readonly TreeEntry[]): Promise<{ path: string; oid: string }[]> {
  const ids = files.map(({ id }) => id)
  const objects = await readObjects(dir, ids, { maxBytes: LONGEST_POINTER })
  return files.flatMap(({ path }, n) => {
    const { content } = objects[n] ?? {}
    const pointer = content ? readPointer(content) : null
    return pointer ? [{ path, oid: pointer.oid }] : []
  })
}
