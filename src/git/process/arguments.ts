/**
 * What may stand on git's command line: literals of ours, and values that went through one of the constructors below.
 * Each refuses what git could take for an option, a range, a pattern or another protocol, so that a value from outside
 * stays the one thing it was meant to be. `git()` accepts nothing else, by type.
 */
import { isAbsolute } from 'node:path'

declare const checked: unique symbol
type Checked<Kind extends string> = string & { readonly [checked]: Kind }

/** One revision: an object id, a branch or tag by its short name, `HEAD~3`; never a range, a path or a search. */
export type Rev = Checked<'rev'>
/** A whole ref name: `refs/heads/master`. */
export type Ref = Checked<'ref'>
/** A file or folder inside a tree. */
export type Path = Checked<'path'>
/** A place on our own disk. */
export type Folder = Checked<'folder'>
/** What an option takes, written behind it as an argument of its own: `--max-count 5`. */
export type Value = Checked<'value'>
/** An option with its value in one: `--unified=3`. */
export type Option = Checked<'option'>
/** A remote repository, without credentials. */
export type Address = Checked<'address'>

/**
 * What is left of a type when all but literals and checked values are taken away. A template with a hole in it
 * (`--author=${name}`) is no literal: as a key it makes an index signature, which `{}` satisfies.
 */
export type Argument<A extends string> = A extends Checked<string> ? A : {} extends Record<A, 1> ? never : A

/** A value that must not reach git. The value itself is not repeated: it may be long, hostile or secret. */
export class UnsafeArgument extends Error {
  constructor(kind: string) {
    super(`not a ${kind} git may be given`)
    this.name = 'UnsafeArgument'
  }
}

/** For values that simply do not exist when they are unsafe. */
export function safely<T extends string>(construct: () => T): T | null {
  try {
    return construct()
  } catch (error) {
    if (error instanceof UnsafeArgument) return null
    throw error
  }
}

const LONGEST_NAME = 1024
export const LONGEST_PATH = 4096

// oxlint-disable-next-line no-control-regex -- control characters are what this is about
export const CONTROL = /[\0-\x1f\x7f]/
const GLOB_OR_PATH = /[ :?*[\\]/
// Reflogs (`@{1}`, `@{upstream}`) do not exist here, and `^{/…}` would search the history by a stranger's regex.
const SELECTORS = /@\{|\^\{|\.\./

export function rev(value: string): Rev {
  const isSafe =
    value !== '' &&
    value.length <= LONGEST_NAME &&
    !/^[-^]/.test(value) &&
    !CONTROL.test(value) &&
    !GLOB_OR_PATH.test(value) &&
    !SELECTORS.test(value)
  if (!isSafe) throw new UnsafeArgument('revision')
  return value as Rev
}

// The rules of git-check-ref-format(1), and no part that begins with a dash, or that has no room for `.lock` as a file.
const LONGEST_PART = 250
const isRefPart = (part: string) =>
  part !== '' && !/^[-.]|\.lock$/.test(part) && Buffer.byteLength(part) <= LONGEST_PART

function isRefName(name: string): boolean {
  const isPlain = !CONTROL.test(name) && !GLOB_OR_PATH.test(name) && !/[~^]|\.\.|@\{|\.$/.test(name)
  return isPlain && name.length <= LONGEST_NAME && name.split('/').every(isRefPart)
}

export function ref(name: string): Ref {
  if (!name.startsWith('refs/') || !isRefName(name)) throw new UnsafeArgument('ref')
  return name as Ref
}

/** `HEAD` as a branch, or a branch named like a whole ref, would be taken for something else sooner or later. */
export const isBranchName = (name: string): boolean =>
  isRefName(name) && name !== 'HEAD' && name !== '@' && !name.startsWith('refs/')

/** Whatever ref it is: as a branch or a tag it has a name that only means itself. */
export function isUnmistakable(name: string): boolean {
  const [, short] = /^refs\/(?:heads|tags)\/(.*)$/.exec(name) ?? []
  return short === undefined || isBranchName(short)
}

export function branch(name: string): Ref {
  if (!isBranchName(name)) throw new UnsafeArgument('branch')
  return ref(`refs/heads/${name}`)
}

export function tag(name: string): Ref {
  if (!isBranchName(name)) throw new UnsafeArgument('tag')
  return ref(`refs/tags/${name}`)
}

// Also as HFS+ and NTFS would read them: `.GIT`, `git~1`, `.git ` and `.git.` name the same folder there.
const isPathPart = (part: string) => part !== '' && part !== '.' && part !== '..' && !/^(\.git|git~1)[ .]*$/i.test(part)

export function path(value: string): Path {
  const isSafe = value.length <= LONGEST_PATH && !value.startsWith('-') && !CONTROL.test(value)
  if (!isSafe || !value.split('/').every(isPathPart)) throw new UnsafeArgument('path')
  return value as Path
}

/**
 * For reading only, and only behind `--`, where git looks for no options: whatever a tree can hold, a name with line
 * breaks or `.git` included, as long as it leads nowhere else.
 */
export function treePath(value: string): Path {
  const isSafe = value.length <= LONGEST_PATH && !value.includes('\0')
  if (!isSafe || value.split('/').some((part) => ['', '.', '..'].includes(part))) throw new UnsafeArgument('path')
  return value as Path
}

/** For a command that is told of both, with `GIT_LITERAL_PATHSPECS` off: each says of itself that it is no pattern. */
export const including = (value: string): Path => `:(literal)${treePath(value)}` as Path
export const excluding = (value: string): Path => `:(exclude,literal)${treePath(value)}` as Path

export function count(value: number): Value {
  if (!Number.isSafeInteger(value) || value < 0) throw new UnsafeArgument('count')
  return String(value) as Value
}

/** In git's own notation: of a plain number it would guess whether it is a year. It knows no time before 1970. */
export function moment(date: Date): Value {
  if (Number.isNaN(date.getTime())) throw new UnsafeArgument('moment')
  return `@${Math.max(0, Math.floor(date.getTime() / 1000))} +0000` as Value
}

/** Text to look for. */
export function phrase(value: string): Value {
  if (value === '' || value.length > LONGEST_NAME || CONTROL.test(value)) throw new UnsafeArgument('phrase')
  return value as Value
}

/** For options that take their value in no other way. */
export function option<const O extends string>(name: O & Argument<O>, value: Value): Option {
  return `${name}=${value}` as Option
}

/** The folder an archive unpacks to. */
export function prefix(name: string): Value {
  return `${path(name)}/` as Value
}

export function lines(start: number, end: number): Value {
  return `${count(start)},${count(end)}` as Value
}

export function folder(dir: string): Folder {
  if (!isAbsolute(dir) || CONTROL.test(dir)) throw new UnsafeArgument('folder')
  return dir as Folder
}

const PROTOCOLS = ['http:', 'https:', 'git:']

/** The address as `URL` writes it, so that git reads the very host that was checked. */
export function address(value: string): Address {
  const url = URL.parse(value)
  // Decoded by git, an escaped line break would continue in its protocol.
  const isSafe = url && PROTOCOLS.includes(url.protocol) && url.hostname !== '' && !/%[01][0-9a-f]|%7f/i.test(url.href)
  if (!isSafe || CONTROL.test(value) || url.username !== '' || url.password !== '') throw new UnsafeArgument('address')
  return url.href as Address
}
