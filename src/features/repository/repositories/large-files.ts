import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { readObject, type OpenBlob } from '../../../git/objects.ts'
import { LONGEST_POINTER, readPointer } from '../../../lib/lfs-pointer.ts'
import { findLfsObject } from '../lfs/queries.ts'
import type { RepositorySubject } from './policy.ts'

/**
 * What a pointer of Git LFS stands for; null for a blob that is none. A pointer alone opens nothing: the project must
 * have the object.
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
