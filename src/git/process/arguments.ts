/**
 * The values that may appear on git's command line: literals in this code, and values from the constructors below. Each
 * constructor rejects text that git could read as an option, a range, a pattern or another protocol. So a value from
 * outside keeps its intended meaning. By its types, `git()` accepts nothing else.
 */
import { isAbsolute } from 'node:path'

declare const checked: unique symbol
type Checked<Kind extends string> = string & { readonly [checked]: Kind }

/** One revision: an object id, the short name of a branch or tag, `HEAD~3`; never a range, a path or a search. */
export type Rev = Checked<'rev'>
/** A full ref name: `refs/heads/master`. */
export type Ref = Checked<'ref'>
/** A file or folder inside a tree. */
export type Path = Checked<'path'>
/** A path on the server's own disk. */
export type Folder = Checked<'folder'>
/** The value of an option, as a separate argument: `--max-count 5`. */
export type Value = Checked<'value'>
/** An option together with its value: `--unified=3`. */
export type Option = Checked<'option'>
/** The URL of a remote repository, without credentials. */
export type Address = Checked<'address'>

/**
 * Accepts only literals and checked values. A template with a placeholder (`--author=${name}`) is no literal: as a key
 * it creates an index signature, which `{}` satisfies.
 */
export type Argument<A extends string> = A extends Checked<string> ? A : {} extends Record<A, 1> ? never : A

/** A value that must not reach git. The message does not repeat the value, which may be long, hostile or secret. */
export class UnsafeArgument extends Error {
  constructor(kind: string) {
    super(`not a ${kind} git may be given`)
    this.name = 'UnsafeArgument'
  }
}

/** For values that count as missing if they are unsafe. */
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
// Reflogs (`@{1}`, `@{upstream}`) do not exist here, and `^{/…}` would search the history with a regex from a user.
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

// The rules of git-check-ref-format(1). Also, no part may start with a dash or be too long for a `.lock` file.
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

export const isFullRef = (name: string): boolean => safely(() => ref(name)) !== null

/** `HEAD` as a branch, or a branch with the name of a full ref, would be ambiguous. */
export const isBranchName = (name: string): boolean =>
  isRefName(name) && name !== 'HEAD' && name !== '@' && !name.startsWith('refs/')

/** Whether the short name of a branch or tag means only that ref. Other refs always pass. */
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

// Also in the spellings of HFS+ and NTFS: `.GIT`, `git~1`, `.git ` and `.git.` name the same folder there.
const isPathPart = (part: string) => part !== '' && part !== '.' && part !== '..' && !/^(\.git|git~1)[ .]*$/i.test(part)

export function path(value: string): Path {
  const isSafe = value.length <= LONGEST_PATH && !value.startsWith('-') && !CONTROL.test(value)
  if (!isSafe || !value.split('/').every(isPathPart)) throw new UnsafeArgument('path')
  return value as Path
}

/**
 * For reading only, and only after `--`, where git expects no options. Accepts everything that a tree can contain, even
 * names with line breaks or `.git`, as long as the path leads nowhere else.
 */
export function treePath(value: string): Path {
  const isSafe = value.length <= LONGEST_PATH && !value.includes('\0')
  if (!isSafe || value.split('/').some((part) => ['', '.', '..'].includes(part))) throw new UnsafeArgument('path')
  return value as Path
}

/** For a command that takes both, with `GIT_LITERAL_PATHSPECS` off: each path marks itself as literal. */
export const including = (value: string): Path => `:(literal)${treePath(value)}` as Path
export const excluding = (value: string): Path => `:(exclude,literal)${treePath(value)}` as Path

export function count(value: number): Value {
  if (!Number.isSafeInteger(value) || value < 0) throw new UnsafeArgument('count')
  return String(value) as Value
}

/** In git's own notation: git would guess whether a plain number is a year. Git knows no time before 1970. */
export function moment(date: Date): Value {
  if (Number.isNaN(date.getTime())) throw new UnsafeArgument('moment')
  return `@${Math.max(0, Math.floor(date.getTime() / 1000))} +0000` as Value
}

/** A search text. */
export function phrase(value: string): Value {
  if (value === '' || value.length > LONGEST_NAME || CONTROL.test(value)) throw new UnsafeArgument('phrase')
  return value as Value
}

/** For options that accept their value in no other form. */
export function option<const O extends string>(name: O & Argument<O>, value: Value): Option {
  return `${name}=${value}` as Option
}

/** The folder inside an archive. */
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

/** The URL as `URL` serializes it, so that git reads exactly the host that was checked. */
export function address(value: string): Address {
  const url = URL.parse(value)
  // Git decodes an escaped line break, which could inject data into its protocol.
  const isSafe = url && PROTOCOLS.includes(url.protocol) && url.hostname !== '' && !/%[01][0-9a-f]|%7f/i.test(url.href)
  if (!isSafe || CONTROL.test(value) || url.username !== '' || url.password !== '') throw new UnsafeArgument('address')
  return url.href as Address
}
