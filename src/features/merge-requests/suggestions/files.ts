/** Lines of a file as bytes: lines that are not replaced stay identical in any encoding. */
import { readObject } from '../../../git/objects/objects.ts'
import { textOf } from '../../../git/objects/texts.ts'
import { entryAt, isFile } from '../../../git/objects/trees.ts'

const LARGEST_FILE = 2 * 1024 * 1024

/** Each line with its line ending. Null if the file does not exist or is too large. */
export async function linesAt(dir: string, commit: string, path: string): Promise<Buffer[] | null> {
  const entry = await entryAt(dir, commit, path)
  if (!entry || !isFile(entry)) return null
  const content = (await readObject(dir, entry.id, { maxBytes: LARGEST_FILE }))?.content
  return content ? linesOf(content) : null
}

function linesOf(content: Buffer): Buffer[] {
  const lines: Buffer[] = []
  for (let start = 0; start < content.length;) {
    const end = content.indexOf(10, start)
    const next = end === -1 ? content.length : end + 1
    lines.push(content.subarray(start, next))
    start = next
  }
  return lines
}

/** The lines from `from` to `to`, as text. */
export const textBetween = (lines: readonly Buffer[], from: number, to: number): string =>
  textOf(Buffer.concat(lines.slice(from - 1, to)))
