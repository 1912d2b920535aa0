/**
 * Commits, read from the objects themselves: whatever encoding, signature or broken date one carries, it becomes a
 * record. A name a user gives for a commit is resolved here; hostile or unknown, it is null.
 */
import { parseHeaders } from './headers.ts'
import { parsePerson, type Person } from './identities.ts'
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

/** In the order of their names. */
export async function resolveCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<(string | null)[]> {
  const infos = await objectInfos(dir, names, { ...options, as: 'commit' })
  return infos.map((info) => info?.id ?? null)
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
  const objects = await readObjects(dir, names, { ...options, as: 'commit', maxBytes: MAX_COMMIT })
  return Promise.all(objects.map(async (object) => object && commitFrom(dir, object)))
}

async function commitFrom(dir: string, object: GitObject): Promise<Commit> {
  return parseCommit(object.id, object.content ?? (await readStart(dir, object, MAX_COMMIT)))
}
