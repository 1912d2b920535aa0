/**
 * Globs over paths. Only the last `*` or `**` backtracks, one step at a time, so no pattern takes more steps than the
 * product of both lengths. Each step is reported, for callers that count them.
 */

export type Segment =
  | { readonly kind: 'any' }
  | { readonly kind: 'text'; readonly text: string }
  /** Parts with a `*` between each two. */
  | { readonly kind: 'parts'; readonly parts: readonly string[] }
  | Glob

interface Glob {
  readonly kind: 'glob'
  readonly tokens: readonly Token[]
}

type Token = '*' | '?' | { readonly char: string } | { readonly not: boolean; readonly ranges: readonly Range[] }
type Range = readonly [from: string, to: string]

export function segmentOf(part: string): Segment {
  const tokens = tokensOf(part)
  const parts = ['']
  for (const token of tokens) {
    if (token === '*') parts.push('')
    else if (token !== '?' && 'char' in token) parts[parts.length - 1] += token.char
    else return { kind: 'glob', tokens }
  }
  return parts.length === 1 ? { kind: 'text', text: parts[0]! } : { kind: 'parts', parts }
}

function tokensOf(text: string): Token[] {
  const part = Array.from(text)
  const tokens: Token[] = []
  // Searched once: of many brackets none may be closed.
  const lastEnd = part.lastIndexOf(']')
  for (let at = 0; at < part.length; at++) {
    const char = part[at]!
    if (char === '*') {
      if (tokens.at(-1) !== '*') tokens.push('*')
    } else if (char === '?') tokens.push('?')
    else if (char === '[') {
      const set = at < lastEnd ? setAt(part, at) : null
      if (!set) tokens.push({ char })
      else {
        tokens.push(set.token)
        at = set.end
      }
    } else if (char === '\\' && at + 1 < part.length) tokens.push({ char: part[++at]! })
    else tokens.push({ char })
  }
  return tokens
}

/** `[a-z]`, `[!abc]`; null if it is not closed. */
function setAt(part: readonly string[], start: number): { token: Token; end: number } | null {
  const not = part[start + 1] === '!' || part[start + 1] === '^'
  const from = start + (not ? 2 : 1)
  const end = part.indexOf(']', from + 1)
  if (end < 0) return null
  const ranges: Range[] = []
  for (let at = from; at < end; at++) {
    const isRange = part[at + 1] === '-' && at + 2 < end
    ranges.push([part[at]!, isRange ? part[at + 2]! : part[at]!])
    if (isRange) at += 2
  }
  return { token: { not, ranges }, end }
}

const takes = (token: Exclude<Token, '*'>, char: string, step: () => void): boolean => {
  if (token === '?') return true
  if ('char' in token) return token.char === char
  const isIn = token.ranges.some(([from, to]) => {
    step()
    return from <= char && char <= to
  })
  return isIn !== token.not
}

/** Each part is searched once: no backtracking. */
function hasParts(name: string, parts: readonly string[]): boolean {
  const [first, last] = [parts[0]!, parts.at(-1)!]
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

/** Only the last `**` backtracks, one step at a time: so there are no more steps than the product of both lengths. */
export function matchesSegments(segments: readonly Segment[], parts: readonly string[], step: () => void): boolean {
  let [s, p, retryS, retryP] = [0, 0, -1, 0]
  while (p < parts.length) {
    step()
    const segment = segments[s]
    if (segment?.kind === 'any') {
      ;[retryS, retryP] = [++s, p]
      if (s === segments.length) return true
    } else if (segment && matchesPart(segment, parts[p]!, step)) {
      s++
      p++
    } else if (retryS >= 0) {
      ;[s, p] = [retryS, ++retryP]
    } else return false
  }
  // `docs/**` matches everything inside, not the folder itself.
  return s === segments.length
}

export function matchesPart(segment: Exclude<Segment, { kind: 'any' }>, name: string, step: () => void): boolean {
  if (segment.kind === 'text') return segment.text === name
  if (segment.kind === 'parts') return hasParts(name, segment.parts)
  const { tokens } = segment
  const part = Array.from(name)
  let [t, c, retryT, retryC] = [0, 0, -1, 0]
  while (c < part.length) {
    step()
    const token = tokens[t]
    if (token === '*') [retryT, retryC] = [++t, c]
    else if (token !== undefined && takes(token, part[c]!, step)) {
      t++
      c++
    } else if (retryT >= 0) {
      ;[t, c] = [retryT, ++retryC]
    } else return false
  }
  while (tokens[t] === '*') t++
  return t === tokens.length
}

const MOST_ALTERNATIVES = 100
/** Maximum characters of all expanded patterns: nested braces are expanded once for each alternative. */
const MOST_CHARACTERS = 200_000

/**
 * `a/{b,c}` becomes `a/b` and `a/c`. The pattern stays unchanged if there would be too many, or a brace is not closed.
 */
export function alternatives(pattern: string): string[] {
  const done: string[] = []
  const open = [pattern]
  let left = MOST_CHARACTERS
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    left -= next.length
    const brace = braceIn(next)
    if (!brace) done.push(next)
    else {
      const { start, end, parts } = brace
      for (const part of parts.toReversed()) open.push(next.slice(0, start) + part + next.slice(end + 1))
    }
    if (done.length + open.length > MOST_ALTERNATIVES || (left < 0 && open.length > 0)) return [pattern]
  }
  return done
}

/** The first closed brace, with the texts between its own commas. */
function braceIn(pattern: string): { start: number; end: number; parts: string[] } | null {
  const start = pattern.indexOf('{')
  if (start < 0) return null
  const parts: string[] = []
  let [depth, from] = [0, start + 1]
  for (let at = start; at < pattern.length; at++) {
    const char = pattern[at]
    if (char === '\\') at++
    else if (char === '{') depth++
    else if (char === ',' && depth === 1) {
      parts.push(pattern.slice(from, at))
      from = at + 1
    } else if (char === '}' && --depth === 0) return { start, end: at, parts: [...parts, pattern.slice(from, at)] }
  }
  return null
}

/**
 * Matches from the root; `*` stops at a slash, and so does a `**` that is not a whole path segment. Dots are no
 * exception.
 */
export function globOf(pattern: string): (path: string, step: () => void) => boolean {
  const all = alternatives(pattern).map((one) => {
    const parts = one.split('/')
    return parts.map((part, n): Segment => (part === '**' && n < parts.length - 1 ? { kind: 'any' } : segmentOf(part)))
  })
  return (path, step) => {
    const parts = path.split('/')
    return all.some((segments) => matchesSegments(segments, parts, step))
  }
}
