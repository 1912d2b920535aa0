/**
 * Finds references in plain text: `@user`, `#1`, `group/project!2`, `~label`, `%milestone`, commits, URLs of the
 * instance. It knows no Markdown: `lib/markdown` calls it for the prose parts. One pass; each character is read at most
 * a few times.
 */

interface NamedRecord {
  /** As written. */
  readonly text: string
  /** Path of the other project it refers to; a single name is a project in the same namespace. */
  readonly project: string | null
}

/** Of a user, a group or `all`. */
export type UserReference = NamedRecord & { readonly kind: 'user'; readonly name: string }
export type NumberReference = NamedRecord & {
  readonly kind: 'issue' | 'merge_request' | 'snippet'
  readonly id: number
}
/** A number may be an id (for a milestone the iid) or a title, so both are set; in quotes it is a title. */
export type TitleReference = NamedRecord & {
  readonly kind: 'label' | 'milestone'
  readonly id: number | null
  readonly title: string
}
export type CommitReference = NamedRecord & { readonly kind: 'commit'; readonly sha: string }
export type RangeReference = NamedRecord & {
  readonly kind: 'commit_range'
  readonly from: string
  readonly to: string
  readonly dots: '..' | '...'
}
export type Reference = UserReference | NumberReference | TitleReference | CommitReference | RangeReference

/** With its start and end. */
export type FoundReference<R extends Reference = Reference> = R & { readonly start: number; readonly end: number }

/** Equal for references to the same record, however written. */
export function referenceKey(reference: Reference): string {
  const { kind, project } = reference
  return [kind, (project ?? '').toLowerCase(), ...partsOf(reference)].join('\0')
}

function partsOf(reference: Reference): readonly (string | number | null)[] {
  if (reference.kind === 'user') return [reference.name.toLowerCase()]
  if (reference.kind === 'commit') return [reference.sha]
  if (reference.kind === 'commit_range') return [reference.from, reference.dots, reference.to]
  return 'title' in reference ? [reference.id, reference.title] : [reference.id]
}

const CANDIDATE = /[@#!$%~]|(?<![\p{L}\p{N}_/.#@-])[0-9a-f]{7,40}(?![\p{L}\p{N}_])/gu
const BEFORE_SIGIL = /[\p{L}\p{N}_@#!$%~&/.-]/u
/** A mention must not be part of a word or of an address. */
const BEFORE_MENTION = /[\p{L}\p{N}_@/]/u
const PATH_CHARACTER = /[A-Za-z0-9_./-]/
const PATH = /^[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$/
const LONGEST_PATH = 1024

const NUMBER = /\d{1,10}(?![\p{L}\p{N}_])/uy
const NAME = /[A-Za-z0-9_][A-Za-z0-9_.-]*(?:\/[A-Za-z0-9_][A-Za-z0-9_.-]*)*/y
const SHA = /[0-9a-f]{7,40}(?![\p{L}\p{N}_])/uy
const RANGE_END = /(\.{2,3})([0-9a-f]{7,40})(?![\p{L}\p{N}_])/uy
const WORD = /[\p{L}\p{N}_&?.-]+(?:::?[\p{L}\p{N}_&?.-]+)*/uy
const QUOTED = /"([^"\n]{1,255})"/y

/** What a reference starts with, also written as an HTML entity or as a URL. */
const SIGN_OF_REFERENCE = /[@#!$%~&]|\/\/|[0-9a-f]{7}/

/** False for a text, also of Markdown, that certainly has no reference. */
export const mayRefer = (text: string): boolean => SIGN_OF_REFERENCE.test(text)

/** The maximum number of characters that may start a reference; the rest of the text is not read. */
const MOST_CANDIDATES = 100_000

/** All references of a text, in order. */
export function scanReferences(text: string): FoundReference[] {
  const found: FoundReference[] = []
  let end = 0
  let left = MOST_CANDIDATES
  CANDIDATE.lastIndex = 0
  for (let match = CANDIDATE.exec(text); match && left-- > 0; match = CANDIDATE.exec(text)) {
    const reference = match[0].length > 1 ? commitAt(text, match.index) : sigilAt(text, match.index, end)
    if (!reference) continue
    found.push(reference)
    end = CANDIDATE.lastIndex = reference.end
  }
  return found
}

/** Looks back no further than `from`, the end of the part already read. */
function sigilAt(text: string, at: number, from: number): FoundReference | null {
  if (text[at] === '@' && !BEFORE_MENTION.test(text[at - 1] ?? '')) return userAt(text, at)
  const start = pathStart(text, at, from)
  const path = start < at ? text.slice(start, at) : null
  if (path !== null && !(path.length <= LONGEST_PATH && PATH.test(path))) return null
  const before = start > 0 ? text[start - 1]! : ''
  if (BEFORE_SIGIL.test(before)) return null
  return valueAt(text, start, at, path)
}

function pathStart(text: string, at: number, from: number): number {
  let start = at
  while (start > from && PATH_CHARACTER.test(text[start - 1]!)) start--
  return start
}

function valueAt(text: string, start: number, at: number, project: string | null): FoundReference | null {
  const sigil = text[at]!
  const named = (end: number) => ({ text: text.slice(start, end), project, start, end })
  if (sigil === '@') return project === null ? userAt(text, at) : commitAt(text, at + 1, start, project)
  if (sigil === '~' || sigil === '%') {
    const value = titleAt(text, at + 1)
    return (
      value && { kind: sigil === '~' ? 'label' : 'milestone', id: value.id, title: value.title, ...named(value.end) }
    )
  }
  const number = matchAt(NUMBER, text, at + 1)
  if (!number) return null
  const kind = ({ '#': 'issue', '!': 'merge_request', $: 'snippet' } as const)[sigil as '#' | '!' | '$']
  return { kind, id: Number(number[0]), ...named(at + 1 + number[0].length) }
}

function userAt(text: string, at: number): FoundReference<UserReference> | null {
  // No path ends with a dot: it ends the sentence.
  const name = withoutStops(matchAt(NAME, text, at + 1)?.[0] ?? '')
  if (name === '' || name.length > LONGEST_PATH) return null
  const end = at + 1 + name.length
  return { kind: 'user', project: null, name, text: text.slice(at, end), start: at, end }
}

function titleAt(text: string, at: number): { id: number | null; title: string; end: number } | null {
  const quoted = matchAt(QUOTED, text, at)
  if (quoted) return { id: null, title: quoted[1]!, end: at + quoted[0].length }
  const word = withoutStops(matchAt(WORD, text, at)?.[0] ?? '')
  if (word === '' || word.length > 255) return null
  return { id: /^\d{1,10}$/.test(word) ? Number(word) : null, title: word, end: at + word.length }
}

/** Dots and question marks at the end belong to the sentence. */
function withoutStops(word: string): string {
  let end = word.length
  while (end > 0 && '.?:'.includes(word[end - 1]!)) end--
  return word.slice(0, end)
}

function commitAt(text: string, at: number, start = at, project: string | null = null): FoundReference | null {
  const sha = matchAt(SHA, text, at)?.[0]
  if (sha === undefined) return null
  const end = at + sha.length
  const range = matchAt(RANGE_END, text, end)
  const whole = end + (range?.[0].length ?? 0)
  const named = { project, text: text.slice(start, whole), start, end: whole }
  if (!range) return { kind: 'commit', sha, ...named }
  return { kind: 'commit_range', from: sha, to: range[2]!, dots: range[1] as '..' | '...', ...named }
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at
  return pattern.exec(text)
}

const NUMBERED = { issues: 'issue', work_items: 'issue', merge_requests: 'merge_request', snippets: 'snippet' } as const
const ADDRESS =
  /^\/((?:[\w.-]+\/)*?[\w.-]+)(?:\/-)?\/(issues|work_items|merge_requests|snippets|milestones|commit|compare)\/([\w.]+)(?:\/(?:diffs|commits|pipelines|designs)?)?$/
const LONGEST_ADDRESS = 2048

export interface AddressReference {
  readonly reference: Reference
  /** The note that the URL leads to. */
  readonly note: number | null
}

/** The record that a URL of this instance leads to, with or without `/-/`. Null if there is none. */
export function referenceOfAddress(address: string, base: string): AddressReference | null {
  const root = base.replace(/\/$/, '')
  if (address.length > LONGEST_ADDRESS || !address.startsWith(`${root}/`)) return null
  const [, path = '', fragment = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(address.slice(root.length)) ?? []
  const reference = personalSnippet(path, address) ?? referenceOfPath(path, address)
  if (!reference) return null
  const note = /^note_(\d{1,15})$/.exec(fragment)?.[1]
  return { reference, note: note === undefined ? null : Number(note) }
}

function personalSnippet(path: string, text: string): Reference | null {
  const id = /^(?:\/-)?\/snippets\/(\d{1,10})$/.exec(path)?.[1]
  return id === undefined ? null : { kind: 'snippet', id: Number(id), project: null, text }
}

function referenceOfPath(path: string, text: string): Reference | null {
  const [, written = '', noun = '', value = ''] = ADDRESS.exec(path) ?? []
  const project = written.replace(/\/-$/, '')
  if (!PATH.test(project)) return null
  const named = { project, text }
  if (noun === 'commit') return matchesAll(SHA, value) ? { kind: 'commit', sha: value, ...named } : null
  if (noun === 'compare') {
    const range = commitAt(value, 0)
    return range?.kind === 'commit_range' && range.end === value.length ? { ...range, ...named } : null
  }
  if (!/^\d{1,10}$/.test(value)) return null
  const id = Number(value)
  if (noun === 'milestones') return { kind: 'milestone', id, title: value, ...named }
  return { kind: NUMBERED[noun as keyof typeof NUMBERED], id, ...named }
}

const matchesAll = (pattern: RegExp, text: string) => matchAt(pattern, text, 0)?.[0].length === text.length
