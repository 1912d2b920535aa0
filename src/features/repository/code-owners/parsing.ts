/**
 * Parses `CODEOWNERS`: who must approve changes to which files. Pure, and bounded for any input: text beyond the limits
 * is not read, and matching counts its steps.
 */
import { matchesSegments, segmentOf, type Segment } from '../../../lib/text/globs.ts'

/** The rest of the file is ignored, including the line at the cut. */
export const LONGEST_FILE = 256 * 1024
const MOST_PATTERNS = 5000
const LONGEST_PATTERN = 255
const MOST_OWNERS = 100
const LONGEST_SECTION = 255
const MOST_APPROVALS = 100

/** Maximum matching steps for one change. */
const MOST_STEPS = 2_000_000

export interface OwnedPattern {
  /** As written. */
  readonly pattern: string
  /** `@user`, `@group/subgroup` or an email address, as written; empty if the matched files have no owner. */
  readonly owners: readonly string[]
  /** `!pattern`: matched files have no owners in this section, whatever else matches. */
  readonly excludes: boolean
  readonly segments: readonly Segment[]
}

export interface OwnerSection {
  /** Empty for patterns before the first section. */
  readonly name: string
  /** `^[Name]`: shown, but not required. */
  readonly optional: boolean
  readonly approvals: number
  readonly patterns: readonly OwnedPattern[]
}

/** Matching took more steps than any useful file needs. */
export class TooManySteps extends Error {}

interface Draft {
  name: string
  optional: boolean
  approvals: number
  patterns: OwnedPattern[]
}

/** In the order of the file. Sections with the same name, regardless of case, are merged. */
export function parseCodeOwners(text: string): OwnerSection[] {
  const sections = new Map<string, Draft>()
  const sectionOf = (name: string, input: Pick<Draft, 'optional' | 'approvals'>): Draft => {
    const known = sections.get(name.toLowerCase())
    if (!known) {
      const made = { name, patterns: [], ...input }
      sections.set(name.toLowerCase(), made)
      return made
    }
    // The stricter requirement wins.
    known.optional &&= input.optional
    known.approvals = Math.max(known.approvals, input.approvals)
    return known
  }
  let current = sectionOf('', { optional: false, approvals: 1 })
  let usual: readonly string[] = []
  let left = MOST_PATTERNS
  for (const written of withinLimit(text).split('\n')) {
    const line = written.trim()
    if (line === '' || line.startsWith('#')) continue
    const header = headerIn(line)
    if (header) {
      current = sectionOf(header.name, header)
      usual = header.owners
    } else {
      const entry = left > 0 ? patternIn(line, usual) : null
      if (!entry) continue
      left--
      current.patterns.push(entry)
    }
  }
  return [...sections.values()].filter(({ patterns }) => patterns.length > 0)
}

const withinLimit = (text: string) =>
  text.length < LONGEST_FILE ? text : text.slice(0, text.lastIndexOf('\n', LONGEST_FILE) + 1)

/** `^[Name][2] @default`. */
function headerIn(line: string) {
  const optional = line.startsWith('^[')
  if (!optional && !line.startsWith('[')) return null
  const start = optional ? 2 : 1
  const end = line.indexOf(']', start)
  const name = line.slice(start, Math.max(end, 0)).trim()
  if (end < 0 || name === '' || name.length > LONGEST_SECTION) return null
  const rest = line.slice(end + 1)
  const count = /^\[(\d{0,9})\]/.exec(rest)
  const approvals = Math.min(Math.max(Number(count?.[1] ?? 1), 1), MOST_APPROVALS)
  return { name, optional, approvals, owners: ownersIn(rest.slice(count?.[0].length ?? 0)) }
}

function patternIn(line: string, usual: readonly string[]): OwnedPattern | null {
  const excludes = line.startsWith('!')
  const body = excludes ? line.slice(1) : line
  const end = endOfPattern(body)
  const pattern = body.slice(0, end)
  if (pattern === '' || pattern.length > LONGEST_PATTERN) return null
  const named = excludes ? [] : ownersIn(body.slice(end))
  return { pattern, excludes, owners: named.length > 0 || excludes ? named : usual, segments: segmentsOf(pattern) }
}

/** A backslash before a space makes the space part of the pattern. */
function endOfPattern(line: string): number {
  for (let at = 0; at < line.length; at++) {
    if (line[at] === '\\') at++
    else if (line[at] === ' ' || line[at] === '\t') return at
  }
  return line.length
}

/** Words that name no owner are ignored, and so is everything after a `#`. */
function ownersIn(text: string): string[] {
  const words = text.split(/[ \t]/)
  const comment = words.findIndex((word) => word.startsWith('#'))
  const named = (comment < 0 ? words : words.slice(0, comment)).filter(isOwner)
  return [...new Set(named)].slice(0, MOST_OWNERS)
}

const isOwner = (word: string) => word.length <= 320 && word.indexOf('@', word[0] === '@' ? 0 : 1) >= 0 && word !== '@'

/** A pattern without a leading slash matches at any depth; one with a trailing slash matches everything below. */
function segmentsOf(pattern: string): Segment[] {
  const isRooted = pattern.startsWith('/')
  const parts = pattern.split('/').filter((part) => part !== '')
  const all = [...(isRooted ? [] : ['**']), ...parts, ...(pattern.endsWith('/') ? ['**'] : [])]
  return all.map((part) => (part === '**' ? { kind: 'any' } : segmentOf(part)))
}

export interface Owned {
  readonly section: OwnerSection
  readonly pattern: OwnedPattern
}

/** Matching for one change: all its files share one step limit. */
export class OwnerMatching {
  readonly #sections: readonly OwnerSection[]
  #steps = MOST_STEPS

  constructor(sections: readonly OwnerSection[]) {
    this.#sections = sections
  }

  /** The last matching pattern of each section, if it names an owner. */
  of(path: string): Owned[] {
    const parts = path.split('/')
    const step = () => this.#step()
    return this.#sections.flatMap((section) => {
      const { patterns } = section
      if (patterns.some((one) => one.excludes && matchesSegments(one.segments, parts, step))) return []
      const pattern = patterns.findLast((one) => !one.excludes && matchesSegments(one.segments, parts, step))
      return pattern && pattern.owners.length > 0 ? [{ section, pattern }] : []
    })
  }

  #step(): void {
    if (--this.#steps < 0) throw new TooManySteps()
  }
}
