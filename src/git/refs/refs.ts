/**
 * Branches and tags, found by exact name. Listed without a process, or with one process if there are many or unusual
 * ones. An impossible name is simply not found.
 */
import { branch, ref, rev, safely, tag, type Ref } from '../process/arguments.ts'
import { git, GitFailed, LONG_LISTING } from '../process/command.ts'
import { resolveCommit, resolveCommits } from '../objects/commits.ts'
import { objectInfos, readObjects } from '../objects/objects.ts'
import { parseTag, type Annotation } from '../objects/tags.ts'
import { repositoryExists } from '../storage/repositories.ts'
import { creationDates } from './dates.ts'
import { readNames, type RefName } from './ref-files.ts'

export interface Branch {
  readonly name: string
  /** The id of the newest commit. */
  readonly id: string
}

export interface Tag {
  readonly name: string
  /** The direct target of the ref: for an annotated tag, the tag object. */
  readonly target: string
  /** The final target. Null if it is not a commit. */
  readonly commit: string | null
  /** Null for a lightweight tag. */
  readonly annotation: Annotation | null
}

export type RefOrder = 'name_asc' | 'name_desc' | 'updated_asc' | 'updated_desc' | 'version_asc' | 'version_desc'

export interface RefsOptions {
  /** Part of the name, ignoring case; `^x` matches the start, `x$` the end. */
  readonly search?: string
  /** Any other condition on the name. */
  readonly where?: (name: string) => boolean
  readonly order?: RefOrder
  /** The last name of the previous page. */
  readonly after?: string
  readonly skip?: number
  readonly limit?: number
}

export interface Listed<T> {
  readonly items: T[]
  /** The total of all pages, wherever this page starts. */
  readonly total: number
}

const MAX_TAG = 1024 * 1024

export async function listBranches(dir: string, input: RefsOptions = {}): Promise<Listed<Branch>> {
  return listRefs(dir, 'refs/heads', input)
}

export async function listTags(dir: string, input: RefsOptions = {}): Promise<Listed<Tag>> {
  const { items, total } = await listRefs(dir, 'refs/tags', input)
  return { items: await loadTags(dir, items), total }
}

export async function findBranch(dir: string, name: string): Promise<Branch | null> {
  const id = await resolveExactly(dir, () => branch(name))
  return id === null ? null : { name, id }
}

export async function findTag(dir: string, name: string): Promise<Tag | null> {
  const id = await resolveExactly(dir, () => tag(name))
  return id === null ? null : ((await loadTags(dir, [{ name, id }]))[0] ?? null)
}

export async function branchExists(dir: string, name: string): Promise<boolean> {
  return (await findBranch(dir, name)) !== null
}

export async function hasBranches(dir: string): Promise<boolean> {
  const names = await readNames(dir, 'refs/heads')
  if (names) return names.length > 0
  return (await git(dir, ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/heads'])) !== ''
}

/** The target of a full ref name (`refs/heads/master`). */
export function resolveRef(dir: string, name: string): Promise<string | null> {
  return resolveExactly(dir, () => ref(name))
}

async function resolveExactly(dir: string, construct: () => Ref): Promise<string | null> {
  const name = safely(construct)
  if (name === null) return null
  // If the ref does not exist, git would try its name inside other namespaces: `refs/heads/refs/heads/master`.
  const others = ['refs', 'refs/tags', 'refs/heads', 'refs/remotes'].map((prefix) => `${prefix}/${name}`)
  const [found, ...mistaken] = await objectInfos(dir, [name, ...others])
  if (!found || mistaken.every((other) => other === null)) return found?.id ?? null
  return verifyRef(dir, name)
}

async function verifyRef(dir: string, name: Ref): Promise<string | null> {
  try {
    return (await git(dir, ['show-ref', '--verify', '--hash', name])).trim()
  } catch (error) {
    if (error instanceof GitFailed && error.reason === 'exit') return null
    throw error
  }
}

export interface ContainingRef {
  readonly type: 'branch' | 'tag'
  readonly name: string
}

/** Branches first. Empty if the commit is unknown. */
export async function containingRefs(
  dir: string,
  commit: string,
  type: ContainingRef['type'] | 'all' = 'all',
): Promise<ContainingRef[]> {
  const id = await resolveCommit(dir, commit)
  if (id === null) return []
  const prefixes = { branch: ['refs/heads'], tag: ['refs/tags'], all: ['refs/heads', 'refs/tags'] } as const
  const output = await git(
    dir,
    ['for-each-ref', '--format=%(refname)', '--contains', rev(id), '--end-of-options', ...prefixes[type]],
    { maxOutput: LONG_LISTING },
  )
  return [...output.matchAll(/^refs\/(heads|tags)\/(.+)$/gm)].map(([, kind, name]) => ({
    type: kind === 'heads' ? 'branch' : 'tag',
    name: name!,
  }))
}

/** The commits among these that a branch reaches, with at most one process. Unknown commits are not included. */
export async function onBranches(dir: string, commits: readonly string[]): Promise<Set<string>> {
  const known = (await resolveCommits(dir, commits)).filter((id) => id !== null)
  if (known.length === 0) return new Set()
  const output = await git(dir, ['rev-list', ...known.map((id) => rev(id)), '--not', '--branches'], {
    maxOutput: LONG_LISTING,
  })
  const others = new Set(output.split('\n'))
  return new Set(known.filter((id) => !others.has(id)))
}

/** Names of the branches that are fully merged into `into`, itself included. */
export async function mergedBranches(dir: string, into: string): Promise<Set<string>> {
  const id = await resolveCommit(dir, into)
  if (id === null) return new Set()
  const output = await git(
    dir,
    ['for-each-ref', '--format=%(refname:lstrip=2)', '--merged', rev(id), '--end-of-options', 'refs/heads'],
    { maxOutput: LONG_LISTING },
  )
  return new Set(output.split('\n').filter((name) => name !== ''))
}

const SORTING = {
  name_asc: ['--sort=refname'],
  name_desc: ['--sort=-refname'],
  updated_asc: ['--sort=refname', '--sort=creatordate'],
  updated_desc: ['--sort=refname', '--sort=-creatordate'],
  version_asc: ['--sort=version:refname'],
  version_desc: ['--sort=-version:refname'],
} as const

type Scope = 'refs/heads' | 'refs/tags'

async function listRefs(dir: string, prefix: Scope, input: RefsOptions): Promise<Listed<Branch>> {
  return (await readPage(dir, prefix, input)) ?? pageOf(await askForRefs(dir, prefix, input.order), input)
}

/** Sorting by date needs the dates of all refs, and the cache has no space for more. */
const MOST_DATED = 2000

/** Reads the files of refs. Null if git must answer. Sorted by name, only the refs of the page are read. */
async function readPage(dir: string, prefix: Scope, input: RefsOptions): Promise<Listed<Branch> | null> {
  const { order = 'name_asc' } = input
  if (order.startsWith('version')) return null
  const names = await readNames(dir, prefix)
  if (!names) return null
  if (order.startsWith('updated')) {
    if (names.length > MOST_DATED) return null
    const refs = await withIds(dir, prefix, names)
    const sorted = refs && (await byDate(dir, refs, order === 'updated_asc' ? 1 : -1))
    return sorted && pageOf(sorted, input)
  }
  const { items, total } = pageOf(order === 'name_desc' ? names.toReversed() : names, input)
  const found = await withIds(dir, prefix, items)
  return found && { items: found, total }
}

async function withIds(dir: string, prefix: Scope, names: readonly RefName[]): Promise<Branch[] | null> {
  const loose = names.filter(({ packed }) => packed === null)
  const infos = await objectInfos(
    dir,
    loose.map(({ name }) => `${prefix}/${name}`),
  )
  const found = new Map(loose.map(({ name }, n) => [name, infos[n]?.id]))
  const refs = names.map(({ name, packed }) => ({ name, id: packed ?? found.get(name) ?? '' }))
  // A ref was deleted meanwhile, or has no target.
  return refs.some(({ id }) => id === '') ? null : refs
}

async function byDate(dir: string, refs: readonly Branch[], direction: 1 | -1): Promise<Branch[] | null> {
  const dates = await creationDates(
    dir,
    refs.map(({ id }) => id),
  )
  const dated = refs.map((ref, n) => ({ ref, date: dates[n] ?? NaN }))
  if (dated.some(({ date }) => Number.isNaN(date))) return null
  return dated.toSorted((a, b) => (a.date - b.date) * direction).map(({ ref }) => ref)
}

async function askForRefs(dir: string, prefix: Scope, order: RefOrder = 'name_asc'): Promise<Branch[]> {
  if (!(await repositoryExists(dir))) return []
  const format = '--format=%(objectname) %(refname:lstrip=2)'
  const output = await git(dir, ['for-each-ref', ...SORTING[order], format, prefix], { maxOutput: LONG_LISTING })
  return [...output.matchAll(/^([0-9a-f]+) (.+)$/gm)].map(([, id, name]) => ({ name: name!, id: id! }))
}

function pageOf<R extends { name: string }>(refs: readonly R[], input: RefsOptions): Listed<R> {
  const { search, where, after, skip = 0, limit = Infinity, order } = input
  const isFound = search ? matcherFor(search) : () => true
  const found = refs.filter(({ name }) => isFound(name) && (where?.(name) ?? true))
  const start = (after === undefined ? 0 : startAfter(found, after, order)) + skip
  return { items: found.slice(start, start + limit), total: found.length }
}

function matcherFor(search: string): (name: string) => boolean {
  const [, begins, text, ends] = /^(\^?)(.*?)(\$?)$/s.exec(search.toLowerCase())!
  return (name) => {
    const lower = name.toLowerCase()
    if (begins && ends) return lower === text
    if (begins) return lower.startsWith(text!)
    return ends ? lower.endsWith(text!) : lower.includes(text!)
  }
}

/** A deleted ref still has a position among names, but not among dates. */
function startAfter(refs: readonly { name: string }[], after: string, order: RefOrder = 'name_asc'): number {
  const at = refs.findIndex(({ name }) => name === after)
  if (at >= 0) return at + 1
  const direction = { name_asc: 1, name_desc: -1 }[order as string]
  if (direction === undefined) return refs.length
  const index = refs.findIndex(({ name }) => Buffer.compare(Buffer.from(name), Buffer.from(after)) === direction)
  return index < 0 ? refs.length : index
}

/** The message limit of one tag in a list. */
const MOST_OF_LISTED = 64 * 1024

async function loadTags(dir: string, refs: readonly Branch[]): Promise<Tag[]> {
  const ids = refs.map(({ id }) => id)
  const [objects, commits] = await Promise.all([readObjects(dir, ids, { maxBytes: MAX_TAG }), resolveCommits(dir, ids)])
  const most = refs.length > 1 ? MOST_OF_LISTED : MAX_TAG
  return refs.map(({ name, id }, n) => {
    const object = objects[n]
    const annotation = object?.type === 'tag' && object.content ? parseTag(object.content, most) : null
    return { name, target: id, commit: commits[n] ?? null, annotation }
  })
}
