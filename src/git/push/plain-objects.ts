/**
 * Checks received objects as `git fsck` would, but knows only what nearly all objects look like. Whatever is unusual,
 * even if git accepts it, is left to git: the answer is null.
 */
import type { ObjectType } from '../objects/objects.ts'
import { NO_OBJECT } from '../refs/update.ts'
import type { PlainObject } from './pack-entries.ts'

/** An object that another one names. */
export interface Reference {
  readonly id: string
  readonly type: ObjectType
  /** The content of the object is a file of git's attributes. */
  readonly isAttributes?: true
}

export function referencesOf(object: PlainObject): Reference[] | null {
  // Node's SHA-1 does not notice an attempt to make two objects with the same id, as git's does. Of two such objects
  // one is not plain text. Trees consist of names and of ids, which are not chosen.
  if (object.type !== 'tree' && !isAscii(object.content)) return null
  if (object.type === 'blob') return []
  return object.type === 'commit' ? ofCommit(object.content) : object.type === 'tree' ? ofTree(object.content) : null
}

// oxlint-disable-next-line no-control-regex -- bytes are what this is about
const isAscii = (content: Buffer) => /^[\x00-\x7f]*$/.test(content.toString('latin1'))

const ID = '[0-9a-f]{40}'
const PERSON = '[^<>\\n\\0]+ <[^<>\\n\\0]*> (?:0|[1-9][0-9]{0,10}) [+-][0-9]{4}'
const HEAD = new RegExp(`^tree (${ID})\\n((?:parent ${ID}\\n)*)author ${PERSON}\\ncommitter ${PERSON}\\n`)
const MORE_HEADERS = /^(?:(?!parent |tree |author |committer )[a-z0-9-]+ [^\n]*\n(?: [^\n]*\n)*)*\n/

const LARGEST_COMMIT = 64 * 1024

function ofCommit(content: Buffer): Reference[] | null {
  if (content.length > LARGEST_COMMIT) return null
  const text = content.toString('latin1')
  const found = HEAD.exec(text)
  if (!found || text.includes('\0') || !MORE_HEADERS.test(text.slice(found[0].length))) return null
  const parents = found[2]!.split('\n').filter((line) => line !== '')
  const ids = [found[1]!, ...parents.map((line) => line.slice('parent '.length))]
  if (ids.includes(NO_OBJECT)) return null
  return ids.map((id, n) => ({ id, type: n === 0 ? 'tree' : 'commit' }))
}

const KINDS: Partial<Record<string, ObjectType>> = {
  '40000': 'tree',
  '100644': 'blob',
  '100755': 'blob',
  '120000': 'blob',
}
const LONGEST_NAME = 255
const SPACE = 0x20

function ofTree(content: Buffer): Reference[] | null {
  const references: Reference[] = []
  const names = new Set<string>()
  let last = ''
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(SPACE, at)
    const end = content.indexOf(0, at)
    if (space < 0 || end < space || end + 21 > content.length) return null
    const mode = content.toString('latin1', at, space)
    const name = content.toString('latin1', space + 1, end)
    const id = content.toString('hex', end + 1, (at = end + 21))
    const type = KINDS[mode]
    if (!type || id === NO_OBJECT || !isPlainName(name, mode)) return null
    const key = type === 'tree' ? `${name}/` : name
    if (key <= last || names.has(name)) return null
    last = key
    names.add(name)
    references.push(name === ATTRIBUTES ? { id, type, isAttributes: true } : { id, type })
  }
  return references
}

const ATTRIBUTES = '.gitattributes'
/** Names that are, or could be taken for, those that have a meaning to git: `.git`, `GIT~1`, `.git ` … */
const SPECIAL = /^\.{0,2}$|^\.git|[^\x20-\x7e]|[/\\~:]/i
const HARMLESS = /^\.git(?:ignore|attributes|keep|hub|lab(?:-ci\.yml)?)$/
const LINK = '120000'

function isPlainName(name: string, mode: string): boolean {
  if (name.length > LONGEST_NAME) return false
  if (mode === LINK && /^\.(?:git|mailmap)/i.test(name)) return false
  if (name === ATTRIBUTES && mode === '40000') return false
  return HARMLESS.test(name) || !SPECIAL.test(name)
}

const LONGEST_LINE = 2047

/** Git rejects attributes with lines that overflow older versions. */
export const areAttributesPlain = (content: Buffer): boolean =>
  content
    .toString('latin1')
    .split('\n')
    .every(({ length }) => length <= LONGEST_LINE)
