import { readFile } from 'node:fs/promises'
import type { Upload } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { sniffImage } from '../../../lib/files/image.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'

export const LARGEST_AVATAR = 200 * 1024

export const NO_AVATAR = { avatar_digest: null, avatar_filename: null, avatar_type: null }

/** Detects the type from the bytes: the name and the declared type prove nothing. */
export async function storeAvatar(app: App, upload: Upload) {
  if (upload.size > LARGEST_AVATAR) throw invalid({ avatar: ['is too big (should be at most 200 KB)'] })
  const bytes = await readFile(upload.path)
  const image = sniffImage(bytes)
  if (!image || image.format === 'webp') throw invalid({ avatar: ['only images allowed'] })
  const { digest } = await app.blobs.put(bytes)
  // Released again at once: no row refers to the blob yet, and the insert may fail.
  await releaseBlob(app, digest)
  const stem =
    upload.filename
      .replace(/\.[^.]*$/, '')
      .replace(/[^\w.-]/g, '_')
      .slice(0, 100) || 'avatar'
  return { avatar_digest: digest, avatar_filename: `${stem}.${image.format}`, avatar_type: image.mime }
}

/** The columns to update; an empty text removes the avatar. */
export async function avatarChange(
  app: App,
  avatar: Upload | '' | null | undefined,
): Promise<Partial<Record<keyof typeof NO_AVATAR, string | null>>> {
  if (avatar === undefined || avatar === null) return {}
  return avatar === '' ? NO_AVATAR : storeAvatar(app, avatar)
}

/** Call it after the row is written: a concurrent release of the same content may have deleted the blob before. */
export const keepAvatar =
  (app: App, upload: Upload | '' | null | undefined) =>
  async <R extends { avatar_digest: string | null }>(row: R): Promise<R> => {
    const { avatar_digest: digest } = row
    if (upload && digest && !(await app.blobs.has(digest))) await app.blobs.put(await readFile(upload.path))
    return row
  }
