/** Streams the files of a repository: refs before objects, so that the copy contains the target of each of its refs. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import type { TarFile } from '../../lib/files/tar.ts'
import { poolOf } from './alternates.ts'

const HEADS = ['HEAD', 'packed-refs', 'shallow']
/** Also temporary files of objects, and the link to a pool, whose objects are included instead. */
const LEFT_OUT = /\.lock$|^objects\/(.*\/)?(tmp_|incoming-|tmp-objdir)|^objects\/info\/(alternates|commit-graph)/

export async function* snapshotFiles(dir: string): AsyncGenerator<TarFile> {
  // Refs move from loose files to packed refs, never back, so this order misses none.
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
