/**
 * What processes leave behind that were killed: objects in quarantine, drafts of objects, locks on refs and on the
 * commit-graph. None of it does harm to what is there, but a lock keeps its ref from ever moving again. Who works on a
 * repository is done, or dead, long before `before`.
 */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isQuarantine } from './quarantine.ts'

export async function sweepRepository(dir: string, { before }: { before: Date }): Promise<void> {
  const objects = await namesIn(join(dir, 'objects'))
  const left = [
    ...(await namesIn(dir)).filter(isLock),
    ...(await namesIn(join(dir, 'refs'), true)).filter(isLock).map((name) => join('refs', name)),
    ...(await namesIn(join(dir, 'objects/info'), true)).filter(isLock).map((name) => join('objects/info', name)),
    ...objects.filter(isQuarantine).map((name) => join('objects', name)),
    ...(await namesIn(join(dir, 'objects/pack'))).filter(isDraft).map((name) => join('objects/pack', name)),
    ...(
      await Promise.all(
        objects
          .filter((name) => /^[0-9a-f]{2}$/.test(name))
          .map(async (name) =>
            (await namesIn(join(dir, 'objects', name))).filter(isDraft).map((draft) => join('objects', name, draft)),
          ),
      )
    ).flat(),
  ]
  for (const name of left) {
    const path = join(dir, name)
    if (await isOlder(path, before)) await rm(path, { recursive: true, force: true })
  }
}

const isLock = (name: string) => name.endsWith('.lock')
const isDraft = (name: string) => name.startsWith('tmp_')

const namesIn = (dir: string, recursive = false): Promise<string[]> =>
  readdir(dir, { recursive }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })

/** A quarantine is as young as what is being written in it. */
async function isOlder(path: string, before: Date): Promise<boolean> {
  const packs = (await readdir(join(path, 'pack')).catch(() => [])).map((name) => join(path, 'pack', name))
  const times = await Promise.all([path, ...packs].map((at) => stat(at).catch(() => null)))
  return times.every((time) => time === null || time.mtime < before)
}
