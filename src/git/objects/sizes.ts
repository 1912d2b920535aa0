/** The sizes of the files in a tree. */
import { rev } from '../process/arguments.ts'
import { gitStream } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { textOf } from './texts.ts'

const DEADLINE_MS = 20_000
const MOST_FILES = 200_000
const TAB = 9

/** Calls back for each file with its size. In an extremely large tree, only for the first files. */
export async function eachFileSize(
  dir: string,
  tree: string,
  tell: (path: string, size: number) => void,
): Promise<void> {
  let files = 0
  const stream = gitStream(dir, ['ls-tree', '-r', '-l', '-z', rev(tree)], { deadline: DEADLINE_MS })
  for await (const entries of pieces(stream, 0)) {
    for (const entry of entries) {
      const tab = entry.indexOf(TAB)
      const [, size] = /^100\d{3} blob [0-9a-f]+ +(\d+)$/.exec(entry.toString('latin1', 0, tab)) ?? []
      if (size === undefined) continue // a link, a submodule
      tell(textOf(entry.subarray(tab + 1)), Number(size))
      if (++files === MOST_FILES) return
    }
  }
}
