/**
 * All refs of a repository, read from their files: a process for it costs more than all the rest of a small fetch or
 * push. Whatever is not as git leaves it here (a ref that names another, a name that is no text, refs by the ten
 * thousand) is left to git: the answer is null then.
 */
import { readFile as readFileWithCallback, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { isObjectId } from '../objects/ids.ts'
import { Memory } from '../objects/memory.ts'
import { askShared } from '../process/readers.ts'

/** At half the price of the one that gives promises; refs may be many. */
const readFile = promisify(readFileWithCallback)

export interface StoredRef {
  readonly name: string
  readonly id: string
  /** What a tag leads to in the end, null when it is none; undefined when the files do not tell. */
  readonly peeled?: string | null
}

/** Beyond it git, which reads only the part it needs, is quicker. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024
const MAX_LOOSE = 2000
/** Beyond it, to sort them for every page costs more than git does. */
const MAX_NAMES = 10_000
const UNREADABLE = '\u{FFFD}'

/** In the order of their names. */
export async function readRefs(dir: string): Promise<StoredRef[] | null> {
  // In this order: git packs a ref before it removes its file.
  const loose = await readLoose(dir)
  const packed = loose && (await readPacked(dir))
  if (!packed) return null
  const refs = new Map([...packed, ...loose].map((ref) => [ref.name, ref]))
  return [...refs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Refs that have files of their own. */
const looseFiles = async (dir: string): Promise<Dirent[]> => (await filesBelow(join(dir, 'refs'))).filter(isRef)

const isRef = ({ name }: Dirent) => !name.endsWith('.lock')

/** Folder by folder: git removes those that it has packed everything of, at any time. */
export async function filesBelow(folder: string): Promise<Dirent[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory())
  const inner = await Promise.all(folders.map(({ name }) => filesBelow(join(folder, name)).catch(noFiles)))
  return [...entries.filter((entry) => !entry.isDirectory()), ...inner.flat()]
}

const noFiles = (error: unknown): Dirent[] => nullIfMissing(error) ?? []

export const countLoose = async (dir: string): Promise<number> => (await looseFiles(dir)).length

async function readLoose(dir: string): Promise<StoredRef[] | null> {
  const files = await looseFiles(dir)
  if (files.length > MAX_LOOSE) return null
  const refs = await Promise.all(files.map((file) => readOne(dir, join(file.parentPath, file.name))))
  return refs.includes('unusual') ? null : refs.filter((ref) => ref !== null && ref !== 'unusual')
}

async function readOne(dir: string, file: string): Promise<StoredRef | 'unusual' | null> {
  const name = file.slice(dir.length + 1).replaceAll(sep, '/')
  // Packed or deleted meanwhile: what is packed is read afterwards.
  const id = (await readFile(file, 'latin1').catch(nullIfMissing))?.trimEnd()
  if (id === undefined) return null
  return isObjectId(id) && !name.includes(UNREADABLE) ? { name, id } : 'unusual'
}

export interface RefName {
  /** Without its place. */
  readonly name: string
  /** Null where its own file has it. */
  readonly packed: string | null
}

/** Of all below a place, in the order of their names. What is in files of their own is not read yet: there may be many. */
export async function readNames(dir: string, place: 'refs/heads' | 'refs/tags'): Promise<RefName[] | null> {
  const folder = join(dir, place)
  const files = (await filesBelow(folder).catch(noFiles)).filter(isRef)
  const loose = files.map((file) =>
    join(file.parentPath, file.name)
      .slice(folder.length + 1)
      .replaceAll(sep, '/'),
  )
  const stored = files.length > MAX_LOOSE || loose.some(isUnreadable) ? null : await readPacked(dir)
  if (!stored || stored.length > MAX_NAMES) return null
  const names = new Map<string, string | null>()
  for (const { name, id } of stored) if (name.startsWith(`${place}/`)) names.set(name.slice(place.length + 1), id)
  for (const name of loose) names.set(name, null)
  // Of names in another script, code units have another order than bytes.
  const all = [...names].map(([name, packed]) => ({ name, packed, key: Buffer.from(name).toString('latin1') }))
  return all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const isUnreadable = (name: string) => name.includes(UNREADABLE)

/** One of them: null when there is none, undefined when git had better say. */
export async function readRef(dir: string, name: string): Promise<string | null | undefined> {
  const loose = await readOne(dir, join(dir, name)).catch((error: unknown) => {
    if (hasCode(error, 'EISDIR')) return null
    throw error
  })
  if (loose) return loose === 'unusual' ? undefined : loose.id
  const packed = await readPacked(dir)
  return packed ? (packed.find((ref) => ref.name === name)?.id ?? null) : undefined
}

const packedFiles = new Memory<{ versionKey: string; refs: StoredRef[] | null }>(8 * 1024 * 1024, ({ refs }) =>
  (refs ?? []).reduce((sum, { name }) => sum + 200 + name.length, 0),
)

/** Read again when another file is in its place, which is how git itself knows: it is never written to. */
export async function readPacked(dir: string): Promise<StoredRef[] | null> {
  const file = join(dir, 'packed-refs')
  const found = await stat(file, { bigint: true }).catch(nullIfMissing)
  if (!found) return []
  if (found.size > MAX_PACKED_BYTES) return null
  const versionKey = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
  const known = packedFiles.get(dir, '')
  if (known?.versionKey === versionKey) return known.refs
  const text = await readFile(file, 'utf8')
  const refs = text.includes(UNREADABLE) ? null : parsePacked(text)
  packedFiles.set(dir, '', { versionKey, refs })
  return refs
}

/** `<id> <name>`, and `^<id>` below a tag for what it leads to. */
function parsePacked(text: string): StoredRef[] | null {
  const isPeeled = /^# pack-refs with:.* fully-peeled /.test(text)
  const refs: StoredRef[] = []
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const [id, name] = [line.slice(0, 40), line.slice(41)]
    const last = refs.at(-1)
    if (line.startsWith('^') && last) refs[refs.length - 1] = { ...last, peeled: line.slice(1) }
    else if (isObjectId(id) && name !== '') refs.push({ name, id, ...(isPeeled && { peeled: null }) })
    else return null
  }
  return refs
}

/** What the files did not tell is asked for, all at once. A branch is never a tag. */
export async function peelRefs(dir: string, refs: readonly StoredRef[]): Promise<StoredRef[]> {
  const unknown = refs.filter(({ name, peeled }) => peeled === undefined && !name.startsWith('refs/heads/'))
  const answers = await askShared(
    dir,
    unknown.map(({ id }) => ({ verb: 'info', name: `${id}^{}` })),
  )
  const found = new Map(unknown.map(({ name, id }, n) => [name, answers[n]?.id === id ? null : answers[n]?.id]))
  return refs.map((ref) => ({ ...ref, peeled: ref.peeled ?? found.get(ref.name) ?? null }))
}
