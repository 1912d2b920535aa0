/** Finds Git LFS pointers among objects that no ref reaches yet, with two processes for any number of objects. */
import { HOUR } from '../../clock.ts'
import { batchesOf } from '../../lib/async/batches.ts'
import { LONGEST_POINTER, readPointer, type Pointer } from '../../lib/files/lfs-pointer.ts'
import { git, LONG_LISTING } from '../process/command.ts'
import { readObjects } from './objects.ts'
import { ALL_BUT_UNDO } from '../refs/undo-refs.ts'

const BLOBS_AT_ONCE = 20_000

/** All pointers that these ids bring. */
export async function readPointers(
  dir: string,
  ids: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<Pointer[]> {
  const small = `combine:object:type=blob+blob:limit=${LONGEST_POINTER + 1}` as const
  const listing = await git(
    dir,
    ['rev-list', '--objects', '--no-object-names', `--filter=${small}`, '--stdin', '--not', ...ALL_BUT_UNDO],
    { environment, input: `${ids.join('\n')}\n`, maxOutput: LONG_LISTING, deadline: HOUR },
  )
  // The output also contains the named commits, whatever the filter says.
  const idSet = new Set(ids)
  const blobs = listing.split('\n').filter((id) => id !== '' && !idSet.has(id))
  const pointers: Pointer[] = []
  for (const some of batchesOf(blobs, BLOBS_AT_ONCE)) {
    const objects = await readObjects(dir, some, { environment, maxBytes: LONGEST_POINTER })
    for (const object of objects) {
      const pointer = object?.type === 'blob' && object.content ? readPointer(object.content) : null
      if (pointer) pointers.push(pointer)
    }
  }
  return pointers
}
