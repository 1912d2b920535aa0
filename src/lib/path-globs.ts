/**
 * Patterns of paths as CI files have them: `*` and `?` within a part of the path, `**` over parts, `[a-z]`, `[!a]` and
 * `{one,other}`; names that begin with a dot are names like others. A match takes time in the product of the lengths.
 */

/** One way through the braces, in parts. */
export type GlobParts = readonly GlobPart[]

export type GlobPart = { kind: 'deep' } | { kind: 'name'; name: string } | { kind: 'tokens'; tokens: readonly Token[] }

type Token = string | { kind: 'star' } | { kind: 'any' } | { kind: 'class'; not: boolean; ranges: [number, number][] }

export class BadGlob extends Error {
  override name = 'BadGlob'
}

const LONGEST = 4096
const MOST_ALTERNATIVES = 256

export function compileGlob(pattern: string): GlobParts[] {
  if (pattern.length > LONGEST) throw new BadGlob('is too long a pattern')
  return alternatives(pattern).map((text) => text.split('/').filter(Boolean).map(partOf))
}

export function matchesGlob(glob: readonly GlobParts[], path: string): boolean {
  const names = path.split('/').filter(Boolean)
  return glob.some((parts) => matchesParts(parts, names))
}

export function matchesName(part: GlobPart, name: string): boolean {
  if (part.kind === 'name') return part.name === name
  return part.kind === 'deep' || matchesTokens(part.tokens, Array.from(name))
}

/** For each number of parts that were used, whether the names so far can be told by them. */
function matchesParts(parts: GlobParts, names: string[]): boolean {
  let reached = parts.map(() => false).concat(false)
  reached[0] = true
  skipDeep(parts, reached)
  for (const name of names) {
    const next = reached.map(() => false)
    parts.forEach((part, n) => {
      if (!reached[n] || !matchesName(part, name)) return
      next[part.kind === 'deep' ? n : n + 1] = true
    })
    skipDeep(parts, next)
    reached = next
  }
  return reached[parts.length] === true
}

/** `**` stands for no part as well. */
function skipDeep(parts: GlobParts, reached: boolean[]): void {
  parts.forEach((part, n) => {
    if (reached[n] && part.kind === 'deep') reached[n + 1] = true
  })
}

function matchesTokens(tokens: readonly Token[], text: string[]): boolean {
  let [at, token] = [0, 0]
  let star: { token: number; at: number } | null = null
  while (at < text.length) {
    const wanted = tokens[token]
    if (typeof wanted === 'object' && wanted.kind === 'star') {
      star = { token: token++, at }
    } else if (wanted !== undefined && matchesCharacter(wanted, text[at]!)) {
      at++
      token++
    } else if (star) {
      // Only the last star ever has to give way: whatever an earlier one could take, this one can.
      at = ++star.at
      token = star.token + 1
    } else return false
  }
  return tokens.slice(token).every((rest) => typeof rest === 'object' && rest.kind === 'star')
}

function matchesCharacter(token: Token, character: string): boolean {
  if (typeof token === 'string') return token === character
  if (token.kind !== 'class') return true
  const code = character.codePointAt(0)!
  return token.ranges.some(([from, to]) => from <= code && code <= to) !== token.not
}

function partOf(text: string): GlobPart {
  if (text === '**') return { kind: 'deep' }
  const tokens = tokensOf(Array.from(text))
  return tokens.every((token) => typeof token === 'string')
    ? { kind: 'name', name: tokens.join('') }
    : { kind: 'tokens', tokens }
}

function tokensOf(text: string[]): Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const end = character === '[' ? text.indexOf(']', at + (text[at + 1] === '!' || text[at + 1] === '^' ? 3 : 2)) : -1
    if (character === '*') tokens.push({ kind: 'star' })
    else if (character === '?') tokens.push({ kind: 'any' })
    else if (character === '\\' && at + 1 < text.length) tokens.push(text[++at]!)
    else if (end > 0) {
      tokens.push(classOf(text.slice(at + 1, end)))
      at = end
    } else tokens.push(character)
  }
  return tokens
}

function classOf(inner: string[]): Token {
  const not = inner[0] === '!' || inner[0] === '^'
  const ranges: [number, number][] = []
  for (let at = not ? 1 : 0; at < inner.length; at++) {
    const from = inner[at]!.codePointAt(0)!
    const isRange = inner[at + 1] === '-' && at + 2 < inner.length
    ranges.push([from, isRange ? inner[(at += 2)]!.codePointAt(0)! : from])
  }
  return { kind: 'class', not, ranges }
}

/** What is left when each pair of braces has become one of its choices. */
function alternatives(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  while (open.length > 0) {
    if (done.length + open.length > MOST_ALTERNATIVES) throw new BadGlob('has too many alternatives')
    const text = open.pop()!
    const braces = firstBraces(text)
    if (!braces) done.push(text)
    else for (const choice of braces.choices.toReversed()) open.push(braces.before + choice + braces.after)
  }
  return done
}

function firstBraces(text: string): { before: string; choices: string[]; after: string } | null {
  let depth = 0
  let [start, from] = [-1, 0]
  let choices: string[] = []
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '\\') at++
    else if (character === '{' && depth++ === 0) {
      start = at
      from = at + 1
      choices = []
    } else if (depth > 0 && character === ',' && depth === 1) {
      choices.push(text.slice(from, at))
      from = at + 1
    } else if (depth > 0 && character === '}' && --depth === 0) {
      return { before: text.slice(0, start), choices: [...choices, text.slice(from, at)], after: text.slice(at + 1) }
    }
  }
  return null
}
