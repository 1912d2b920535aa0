/**
 * Reads commits from their objects. Any encoding, signature or broken date still gives a record. Also resolves revision
 * names from users: an unsafe or unknown name is null.
 */
import { fairShare } from '../../lib/async/fair-share.ts'
import { parseHeaders } from './headers.ts'
import { parsePerson, type Person } from './identities.ts'
import { isObjectId } from './ids.ts'
import { Memory } from './memory.ts'
import { mapObjects, objectInfos, readStart, type GitObject, type QuarantineOptions } from './objects.ts'
import { areWithheld } from './withheld.ts'
import { CUT_MARK, startOf, textIn, textOf } from './texts.ts'

export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Person
  readonly committer: Person
  /** Cut if it exceeds the limit for one commit, or for all commits that are read together. */
  readonly message: string
  /** The first line of the message, or empty. */
  readonly title: string
  /** ASCII-armored; `signedCommit` returns the signed content. */
  readonly signature: string | null
}

const KB = 1024
const MB = 1024 * KB

/** The message limit of a single commit, and of one among several. */
const MOST_OF_ONE = MB
const MOST_OF_LISTED = 64 * KB
/** The limit of all messages that are read together, and the minimum for each. */
const MOST_TOGETHER = 8 * MB
const LEAST_OF_LISTED = KB
const LONGEST_TITLE = KB
const MOST_PARENTS_OF_CUT = 100
/** A signature has a few kilobytes. A longer one is cut, so that it cannot be verified. */
const LONGEST_SIGNATURE = 64 * KB

/** `most` is in bytes: of the message. In a larger commit, only the first parents are kept. */
export function parseCommit(id: string, content: Buffer, most = Infinity, isWhole = true): Commit {
  const { headers, body } = parseHeaders(content)
  const bytesOf = (name: string) => headers.find((header) => header.name === name)?.value
  const plain = (name: string) => bytesOf(name)?.toString('latin1')
  const encoding = plain('encoding')
  const text = (bytes: Buffer | undefined) => {
    if (!bytes) return ''
    return encoding === undefined ? textOf(bytes) : textIn(encoding, bytes)
  }
  const isCut = !isWhole || body.length > most
  const message = isCut ? text(startOf(body, most)) + CUT_MARK : text(body)
  const parents = headers.filter(({ name }) => name === 'parent').map(({ value }) => value.toString('latin1'))
  return {
    id,
    tree: plain('tree') ?? '',
    parents: content.length > most ? parents.slice(0, MOST_PARENTS_OF_CUT) : parents,
    author: parsePerson(text(bytesOf('author'))),
    committer: parsePerson(text(bytesOf('committer'))),
    message,
    title: shortened(/\S.*/.exec(message)?.[0].trimEnd() ?? '', LONGEST_TITLE),
    signature: plain('gpgsig')?.slice(0, LONGEST_SIGNATURE) ?? null,
  }
}

const shortened = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text)

/** Limits the characters of a commit that is shown many times. */
export function shortCommit(commit: Commit, most: number): Commit {
  const { message, parents } = commit
  if (message.length + 40 * parents.length <= most) return commit
  return {
    ...commit,
    message: message.length > most ? message.slice(0, most) + CUT_MARK : message,
    parents: parents.slice(0, MOST_PARENTS_OF_CUT),
  }
}

/** Resolves a full or short id, a branch, a tag, `HEAD` or `master~1` to the id of the commit. */
export async function resolveCommit(dir: string, name: string, options?: QuarantineOptions): Promise<string | null> {
  return (await resolveCommits(dir, [name], options))[0] ?? null
}

/** How long a commit that existed is assumed to exist, so that the steps of one request check it once. */
const SEEN_MS = 10_000
const seen = new Memory<number>('commits seen')

/** In the order of the names. */
export async function resolveCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<(string | null)[]> {
  const wasSeen = (name: string) => isObjectId(name) && performance.now() - (seen.get(dir, name) ?? -SEEN_MS) < SEEN_MS
  const unknown = options.environment ? names : names.filter((name) => !wasSeen(name))
  const infos = await objectInfos(dir, unknown, { ...options, as: 'commit' })
  const found = new Map(unknown.map((name, n) => [name, infos[n]?.id ?? null]))
  if (options.environment) return names.map((name) => found.get(name)!)
  for (const id of found.values()) if (id !== null) seen.set(dir, id, performance.now())
  const withheld = await areWithheld(dir, names)
  return names.map((name, n) => (withheld[n] ? null : found.has(name) ? found.get(name)! : name))
}

export async function findCommit(dir: string, name: string, options?: QuarantineOptions): Promise<Commit | null> {
  return (await findCommits(dir, [name], options))[0] ?? null
}

/** In the order of the names, all read at once. */
export async function findCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions = {},
): Promise<(Commit | null)[]> {
  if (!options.environment) return knownCommits(dir, await resolveCommits(dir, names))
  return (await readCommits(dir, names, options)).map((read) => read && read.commit)
}

const remembered = new Memory<Commit>('commits', ({ message, signature, parents, author, committer }) => {
  const texts = [message, signature ?? '', author.name, author.email, committer.name, committer.email]
  return 600 + 60 * parents.length + texts.reduce((sum, { length }) => sum + 2 * length, 0)
})

/** By full ids of commits that the repository has. Results are cached. */
export async function knownCommits(dir: string, ids: readonly (string | null)[]): Promise<(Commit | null)[]> {
  const known = ids.map((id) => (id === null ? null : remembered.get(dir, id)))
  const unknown = ids.filter((id, n) => id !== null && !known[n]) as string[]
  const read = unknown.length === 0 ? [] : await readCommits(dir, unknown, {}, ids.length === 1)
  for (const one of read)
    if (one && one.size <= Math.min(one.most, MOST_OF_LISTED)) remembered.set(dir, one.commit.id, one.commit)
  const rest = read.values()
  return known.map((commit) => (commit === undefined ? (rest.next().value?.commit ?? null) : commit))
}

interface ReadCommit {
  readonly commit: Commit
  readonly size: number
  /** The allowed bytes. */
  readonly most: number
}

/** The limit of bytes read at a time. Of a larger commit only the beginning is read, by a separate process. */
const READ_AT_ONCE = 8 * MB

function readCommits(
  dir: string,
  names: readonly string[],
  options: QuarantineOptions,
  isAlone = names.length === 1,
): Promise<(ReadCommit | null)[]> {
  const reading = { ...options, as: 'commit', maxBytes: READ_AT_ONCE, maxTotal: READ_AT_ONCE } as const
  return mapObjects(dir, names, reading, (infos) => {
    const largest = isAlone ? MOST_OF_ONE : MOST_OF_LISTED
    const sizes = infos.map((info) => Math.min(info?.size ?? 0, largest))
    const most = Math.min(largest, Math.max(LEAST_OF_LISTED, fairShare(sizes, MOST_TOGETHER)))
    return async (object: GitObject) => {
      const { id, size, content } = object
      const bytes = content ?? (await readStart(dir, object, MOST_OF_ONE, options))
      return { commit: parseCommit(id, bytes, most, content !== null), size, most }
    }
  })
}
