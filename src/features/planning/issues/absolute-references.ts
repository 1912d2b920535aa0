/** For texts that move to another project: references to records of the original project get its path. */
import { codeSpans, linesOf } from '../../../lib/text/prose.ts'
import { scanReferences, type FoundReference } from '../../../lib/text/references.ts'

export interface Origin {
  readonly namespace: string
  /** The full path of the project. */
  readonly path: string
}

/** The length of text that is scanned for references. References after it stay unchanged. */
const MOST_SCANNED = 256 * 1024
const CANDIDATE = /[@#!$%~]|[0-9a-f]{7}/

export function absoluteReferences(text: string, origin: Origin): string {
  let left = MOST_SCANNED
  return linesOf(text)
    .map(({ text: line, block }) => {
      if (block === 'code' || !CANDIDATE.test(line)) return line
      left -= line.length
      return left < 0 ? line : absoluteIn(line, origin)
    })
    .join('\n')
}

function absoluteIn(line: string, origin: Origin): string {
  const spans = codeSpans(line)
  let result = ''
  let from = 0
  let span = 0
  for (const found of scanReferences(line)) {
    while (span < spans.length && spans[span]![1] <= found.start) span++
    if (span < spans.length && spans[span]![0] < found.end) continue
    result += line.slice(from, found.start) + prefixOf(found, origin)
    from = found.start
  }
  return result + line.slice(from)
}

/** Users are the same everywhere; a single name is a project in the same namespace as the text's project. */
function prefixOf({ kind, project }: FoundReference, { namespace, path }: Origin): string {
  if (kind === 'user' || project?.includes('/')) return ''
  if (project !== null) return `${namespace}/`
  return kind === 'commit' || kind === 'commit_range' ? `${path}@` : path
}
