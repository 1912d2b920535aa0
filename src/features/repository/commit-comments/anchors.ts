import type { FileDiff } from '../../../git/history/diffs.ts'

export interface Anchor {
  readonly path: string
  readonly line: number
  readonly line_type: 'new' | 'old'
}

/** Whether a line that was added, or on the old side one that was removed, has this number there. */
export function isChangedLine(files: readonly FileDiff[], { path, line, line_type }: Anchor): boolean {
  const file = files.find(({ oldPath, newPath }) => path === (line_type === 'new' ? newPath : oldPath))
  return file !== undefined && changedLines(file.patch, line_type).has(line)
}

function changedLines(patch: string, side: Anchor['line_type']): Set<number> {
  const found = new Set<number>()
  const [mark, otherMark] = side === 'new' ? ['+', '-'] : ['-', '+']
  let at = 0
  for (const line of patch.split('\n')) {
    const [, old, now] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line) ?? []
    if (old !== undefined) at = Number(side === 'new' ? now : old)
    else if (line[0] === mark) found.add(at++)
    else if (line[0] !== otherMark && line[0] !== '\\') at++
  }
  return found
}
