/** Highlighted lines of code, computed in the rendering threads and cached. */
import { languageOf } from '../text/languages.ts'
import type { LimitedCaller } from '../async/limiter.ts'
import { Lru } from '../async/lru.ts'
import type { CodeBlock } from './code-lines.ts'
import { digestOf, performElsewhere } from './performing.ts'

export type { CodeBlock } from './code-lines.ts'

type Marked = (string[] | null)[]

const known = new Lru<Marked>('highlighted code', (blocks) =>
  blocks.reduce((sum, lines) => sum + (lines ?? []).reduce((all, line) => all + 50 + 2 * line.length, 0), 200),
)

/** Each line as HTML. Null for a block that stays unchanged. */
export async function markLines(blocks: readonly CodeBlock[], caller?: LimitedCaller): Promise<Marked> {
  if (blocks.length === 0) return []
  const code = blocks.map(({ language, lines }) => ({ language, lines }))
  const digest = digestOf(code)
  const key = `code ${digest}`
  const kept = known.get(key)
  if (kept) return kept
  const length = code.reduce((sum, { lines }) => sum + lines.reduce((all, line) => all + line.length + 1, 0), 0)
  const marked = await performElsewhere({ kind: 'code', blocks: code }, { key, digest, length, caller })
  if (!marked) return blocks.map(() => null)
  known.set(key, marked)
  return marked
}

/** The language by file name; null if it is unknown. */
export function markedLanguage(path: string): string | null {
  const ending = /\.(\w+)$/.exec(path)?.[1]?.toLowerCase()
  if (ending && KNOWN_ENDINGS.has(ending)) return ending
  return languageOf(path)?.toLowerCase().replace('c++', 'cpp').replace('c#', 'cs') ?? null
}

/** Formats for data and prose, which are not counted as languages. */
const KNOWN_ENDINGS = new Set('json yml yaml toml ini xml md markdown svg diff patch sql graphql'.split(' '))
