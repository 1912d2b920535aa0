/**
 * Objects that a repository has dropped but not yet deleted. No client may get them by id. A file in the repository
 * lists them, commits first, so that all processes know at once. The file exists only while there are any.
 */
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { MINUTE } from '../../clock.ts'
import { Lru } from '../../lib/async/lru.ts'
import { withMutex } from '../../lib/async/mutex.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { git, gitStream, LONG_LISTING } from '../process/command.ts'
import { pieces } from '../process/streams.ts'
import { ALL_BUT_UNDO } from '../refs/undo-refs.ts'
import { objectInfos } from './objects.ts'

interface Withheld {
  readonly commits: ReadonlySet<string>
  /** Trees and blobs. */
  readonly others: ReadonlySet<string>
}

const fileOf = (dir: string) => join(dir, 'withheld')

interface Known extends Withheld {
  readonly state: string
}

const FILE_BYTES = 500
/** Of an id in a set. */
const ID_BYTES = 100
const known = new Lru<Known>(
  'withheld objects',
  ({ commits, others }) => FILE_BYTES + ID_BYTES * (commits.size + others.size),
)

/** Null for nearly every repository. */
async function withheldIn(dir: string): Promise<Known | null> {
  const found = await stat(fileOf(dir)).catch(nullIfMissing)
  if (!found) return null
  const state = `${found.ino} ${found.mtimeMs} ${found.size}`
  const before = known.get(dir)
  if (before?.state === state) return before
  const text = await readFile(fileOf(dir), 'latin1').catch(nullIfMissing)
  if (text === null) return null
  const [commits = '', others = ''] = text.split('\n\n')
  const read = { state, commits: idsIn(commits), others: idsIn(others) }
  known.set(dir, read)
  return read
}

const idsIn = (lines: string) => new Set(lines.split('\n').filter((line) => line !== ''))
const isAmong = ({ commits, others }: Withheld, id: string | undefined) =>
  id !== undefined && (commits.has(id) || others.has(id))

/** Which of the revision names lead to a withheld object, or start at one. */
export async function areWithheld(dir: string, names: readonly string[]): Promise<boolean[]> {
  const withheld = names.length === 0 ? null : await withheldIn(dir)
  if (!withheld) return names.map(() => false)
  const starts = names.map((name) => name.split(/[~^:]|@\{/, 1)[0]!)
  const found = await objectInfos(dir, [...names, ...starts])
  return names.map((_, n) => [found[n], found[names.length + n]].some((one) => isAmong(withheld, one?.id)))
}

/** Checks ids only. Null if no object is withheld. */
export async function withheldIds(dir: string): Promise<((id: string) => boolean) | null> {
  const withheld = await withheldIn(dir)
  return withheld && ((id) => isAmong(withheld, id))
}

/** One after the other: each writes the whole list again. */
const alone = <T>(dir: string, work: () => Promise<T>): Promise<T> => withMutex(`withheld ${dir}`, work)

/** Withholds those of these commits, and of the objects below them, that no ref reaches any more. */
export const withhold = (dir: string, commits: readonly string[]): Promise<void> =>
  alone(dir, async () => {
    const before = await withheldIn(dir)
    await keep(dir, await unreachable(dir, [...commits, ...(before?.commits ?? [])]))
  })

/** Runs after refs have moved, and releases the objects that refs reach now. */
export async function readmit(dir: string): Promise<void> {
  if (await withheldIn(dir)) await alone(dir, () => readmitAlone(dir))
}

async function readmitAlone(dir: string): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const withheld = await withheldIn(dir)
    if (!withheld) return
    const commits = await unreachableCommits(dir, [...withheld.commits])
    if (commits.length === withheld.commits.size) return
    const rest = await unreachable(dir, commits)
    // Another process may have moved refs meanwhile and written a newer list.
    if ((await withheldIn(dir))?.state === withheld.state) return keep(dir, rest)
  }
}

const MOST_TRIES = 5

/** Runs after housekeeping and removes deleted objects from the list. True while objects are left. */
export const reviewWithheld = (dir: string): Promise<boolean> => alone(dir, () => reviewAlone(dir))

async function reviewAlone(dir: string): Promise<boolean> {
  const withheld = await withheldIn(dir)
  if (!withheld) return false
  const left = async (ids: ReadonlySet<string>) => {
    const all = [...ids]
    const infos = await objectInfos(dir, all)
    return new Set(all.filter((_, n) => infos[n]))
  }
  const rest = { commits: await left(withheld.commits), others: await left(withheld.others) }
  await keep(dir, rest)
  return rest.commits.size + rest.others.size > 0
}

async function keep(dir: string, { commits, others }: Withheld): Promise<void> {
  if (commits.size + others.size === 0) return rm(fileOf(dir), { force: true })
  const draft = `${fileOf(dir)}.${randomUUID()}`
  await writeFile(draft, `${[...commits].join('\n')}\n\n${[...others].join('\n')}\n`)
  await rename(draft, fileOf(dir))
}

const NEWLINE = 10
const PATIENTLY = { maxOutput: LONG_LISTING, deadline: 10 * MINUTE }
const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

async function unreachableCommits(dir: string, commits: readonly string[]): Promise<string[]> {
  if (commits.length === 0) return []
  const input = `${commits.join('\n')}\n`
  return linesOf(
    await git(dir, ['rev-list', '--ignore-missing', '--stdin', '--not', ...ALL_BUT_UNDO], { ...PATIENTLY, input }),
  )
}

async function unreachable(dir: string, heads: readonly string[]): Promise<Withheld> {
  const commits = new Set(await unreachableCommits(dir, heads))
  if (commits.size === 0) return { commits, others: new Set() }
  const flags = ['--objects', '--no-object-names', '--ignore-missing', '--stdin', '--not'] as const
  const listed = await git(dir, ['rev-list', ...flags, ...ALL_BUT_UNDO], {
    ...PATIENTLY,
    input: `${[...commits].join('\n')}\n`,
  })
  const others = new Set(linesOf(listed).filter((id) => !commits.has(id)))
  if (others.size > 0) await withoutReachable(dir, others)
  return { commits, others }
}

/** Git also lists objects that only older commits contain, although refs reach those commits. */
async function withoutReachable(dir: string, ids: Set<string>): Promise<void> {
  const flags = ['--objects', '--no-object-names', '--use-bitmap-index'] as const
  const reachable = gitStream(dir, ['rev-list', ...flags, ...ALL_BUT_UNDO], { deadline: 10 * MINUTE })
  for await (const lines of pieces(reachable, NEWLINE)) for (const id of lines) ids.delete(id.toString('latin1'))
}
