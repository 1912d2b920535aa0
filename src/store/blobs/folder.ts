import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import type { Blobs } from './blobs.ts'
import { checkRange, isDigest, blobPath, receive } from './content.ts'

export function folderBlobs(root: string): Blobs {
  const drafts = join(root, 'drafts')
  const fileOf = (digest: string) => join(root, blobPath(digest))

  return {
    isShared: false,

    async put(content, { limit } = {}) {
      await using draft = await receive(content, drafts, limit)
      const { path, digest, size } = draft
      const file = fileOf(digest)
      const shard = dirname(file)
      await flush(path, 'r+')
      await mkdir(shard, { recursive: true })
      await rename(path, file)
      await flushFolders(shard, root, dirname(root))
      return { digest, size }
    },

    async open(digest, range) {
      if (range) checkRange(range)
      const file = await open(fileOf(digest)).catch(nullIfMissing)
      return file && { size: (await file.stat()).size, stream: file.createReadStream(range) }
    },

    async has(digest) {
      return (await stat(fileOf(digest)).catch(nullIfMissing)) !== null
    },

    async remove(digest) {
      await rm(fileOf(digest), { force: true })
    },

    async *list() {
      for (const shard of (await readdir(root).catch(nullIfMissing)) ?? []) {
        if (shard.length !== 2) continue
        for (const rest of await readdir(join(root, shard))) {
          const file = await stat(join(root, shard, rest)).catch(nullIfMissing)
          if (file && isDigest(shard + rest)) yield { digest: shard + rest, modified: file.mtime }
        }
      }
    },

    async check() {
      // Only writing proves that the folder is writable: permissions do not show a full disk, and do not apply to root.
      await using _draft = await receive(Buffer.from('ready'), drafts)
    },
  }
}

async function flush(path: string, flags: string): Promise<void> {
  await using file = await open(path, flags)
  await file.sync()
}

/**
 * A new file name survives a power failure only if its folder and all parent folders are flushed. Windows cannot open
 * folders.
 */
async function flushFolders(...folders: string[]): Promise<void> {
  if (process.platform === 'win32') return
  for (const folder of folders) await flush(folder, 'r')
}
