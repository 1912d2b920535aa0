/**
 * Commits, read from the objects themselves: whatever encoding, signature or broken date one carries, it becomes a
 * record. A name a user gives for a commit is resolved here; hostile or unknown, it is null.
 */
import { parseHeaders } from './headers.ts'
import { parsePerson, type Person } from './identities.ts'
import { isObjectId } from './ids.ts'
import { Memory } from './memory.ts'
import { objectInfos, readObjects, readStart, type GitObject, type QuarantineOptions } from './objects.ts'
import { textIn, textOf } from './texts.ts'

export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person
  readonly committer: Person
  readonly message: string
  /** The message's first line; empty when there is none. */
  readonly title: string
  /** Armoured; `signedCommit` has what it signs. */
  readonly signature: string | null
}

/** A message that is longer is cut. */
const MAX_COMMIT = 1024 * 1024

export function parseCommit(id: string, content: Buffer): Commit {
  const { headers, body } = parseHeaders(content)
  const bytesOf = (name: string) => headers.find((header) => header.name === name)?.value
  const plain = (name: string) => bytesOf(name)?.toString('latin1')
  const encoding = plain('encoding')
  const text = (bytes: Buffer | undefined) => {
    if (!bytes) return ''
    return encoding === undefined ? textOf(bytes) : textIn(encoding, bytes)
  }
  const message = text(body)
  return {
    id,
    tree: plain('tree') ?? '',
    parents: headers.filter(({ name }) => name === 'parent').map(({ value }) => value.toString('latin1')),
    author: parsePerson(text(bytesOf('author'))),
    committer: parsePerson(text(bytesOf('committer'))),
    message,
    title: /\S.*/.exec(message)?.[0].trimEnd() ?? '',
    signature: plain('gpgsig') ?? null,
  }
}

/** Whole or short id, branch, tag, `HEAD`, `master~1`, as users write them → the commit's id. */
export async function resolveCommit(dir: string, name: string, options?: QuarantineOptions): Promise<string | null> {
  return (await resolveCommits(dir, [name], options))[0] ?? null
}

/** For so long a commit that was there is taken to be there still: the steps of one request ask for it once. */
const SEEN_MS = 10_000
const seen = new Memory<number>(2 * 1024 * 1024)

/** In the order of their names. */
export async function resolveCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<(string | null)[]> {
  const wasSeen = (name: string) => isObjectId(name) && performance.now() - (seen.get(dir, name) ?? -SEEN_MS) < SEEN_MS
  const unknown = options.environment ? names : names.filter((name) => !wasSeen(name))
  const infos = await objectInfos(dir, unknown, { ...options, as: 'commit' })
  const found = new Map(unknown.map((name, n) => [name, infos[n]?.id ?? null]))
  if (!options.environment) for (const id of found.values()) if (id !== null) seen.set(dir, id, performance.now())
  return names.map((name) => (found.has(name) ? found.get(name)! : name))
}

export async function findCommit(dir: string, name: string, options?: QuarantineOptions): Promise<Commit | null> {
  return (await findCommits(dir, [name], options))[0] ?? null
}

/** In the order of their names, all read in one go. */
export async function findCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<(Commit | null)[]> {
  if (!options.environment) return knownCommits(dir, await resolveCommits(dir, names))
  const objects = await readObjects(dir, names, { ...options, as: 'commit', maxBytes: MAX_COMMIT })
  return Promise.all(objects.map(async (object) => object && commitFrom(dir, object)))
}

const remembered = new Memory<Commit>(8 * 1024 * 1024, ({ message, signature, parents, author, committer }) => {
  const texts = [message, signature ?? '', author.name, author.email, committer.name, committer.email]
  return 600 + 60 * parents.length + texts.reduce((sum, { length }) => sum + 2 * length, 0)
})

/** By whole ids of commits that the repository has: what was read once is remembered. */
export async function knownCommits(dir: string, ids: readonly (string | null)[]): Promise<(Commit | null)[]> {
  const known = ids.map((id) => (id === null ? null : remembered.get(dir, id)))
  const unknown = ids.filter((id, n) => id !== null && !known[n]) as string[]
  const objects = unknown.length === 0 ? [] : await readObjects(dir, unknown, { as: 'commit', maxBytes: MAX_COMMIT })
  const read = await Promise.all(objects.map(async (object) => object && commitFrom(dir, object)))
  for (const commit of read) if (commit) remembered.set(dir, commit.id, commit)
  const rest = read.values()
  return known.map((commit) => (commit === undefined ? (rest.next().value ?? null) : commit))
}

async function commitFrom(dir: string, object: GitObject): Promise<Commit> {
  return parseCommit(object.id, object.content ?? (await readStart(dir, object, MAX_COMMIT)))
}
