/** A repository's own files: refs before objects, so that whatever a ref of the copy names is in it. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import type { TarFile } from '../../lib/files/tar.ts'
import { poolOf } from './alternates.ts'

const HEADS = ['HEAD', 'packed-refs', 'shallow']
/** Of objects also drafts of what is being written, and the way to a pool, whose objects are put in instead. */
const LEFT_OUT = /\.lock$|^objects\/(.*\/)?(tmp_|incoming-|tmp-objdir)|^objects\/info\/(alternates|commit-graph)/

export async function* snapshotFiles(dir: string): AsyncGenerator<TarFile> {
  // Refs are packed from loose ones, never the other way round: read in this order none is missed.
  yield* filesIn(dir, 'refs')
  for (const name of HEADS) yield { name, path: join(dir, name) }
  const known = new Set<string>()
  for (const source of [dir, await poolOf(dir)]) {
    if (source === null) continue
    for await (const file of filesIn(source, 'objects')) {
      if (known.has(file.name)) continue
      known.add(file.name)
      yield file
    }
  }
}

async function* filesIn(dir: string, folder: string): AsyncGenerator<TarFile> {
  const entries = (await readdir(join(dir, folder), { withFileTypes: true }).catch(nullIfMissing)) ?? []
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`
    if (LEFT_OUT.test(name)) continue
    if (entry.isDirectory()) yield* filesIn(dir, name)
    else if (entry.isFile()) yield { name, path: join(dir, name) }
  }
}
