/**
 * Patterns of artifacts and caches. Unlike in rules, a trailing `**` matches everything below and the folder itself.
 */
import { alternatives, matchesSegments, segmentOf, type Segment } from '../../lib/text/globs.ts'

/** One expansion of the braces, in segments. */
export type GlobParts = readonly Segment[]

export class BadGlob extends Error {
  override name = 'BadGlob'
}

const LONGEST = 4096

export function compileGlob(pattern: string): GlobParts[] {
  if (pattern.length > LONGEST) throw new BadGlob('is too long a pattern')
  return alternatives(pattern).map((text) => text.split('/').filter(Boolean).map(partOf))
}

const partOf = (part: string): Segment => (part === '**' ? { kind: 'any' } : segmentOf(part))

export function matchesGlob(glob: readonly GlobParts[], path: string): boolean {
  const names = path.split('/').filter(Boolean)
  return glob.some(
    (parts) => matchesSegments(parts, names, uncounted) || matchesSegments(itself(parts), names, uncounted),
  )
}

const itself = (parts: GlobParts) => parts.slice(0, parts.findLastIndex(({ kind }) => kind !== 'any') + 1)

export const uncounted = () => {}
