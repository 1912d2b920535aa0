/**
 * Reads all refs of a repository from their files, because a process costs more than the rest of a small fetch or push.
 * Unusual cases (a symbolic ref, a name that is not valid text, tens of thousands of refs) are left to git: the answer
 * is null then.
 */
import { readFile as readFileWithCallback, type Dirent } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { promisify } from 'node:util'
import { hasCode, nullIfMissing } from '../../lib/files/system-errors.ts'
import { isObjectId } from '../objects/ids.ts'
import { Memory } from '../objects/memory.ts'
import { askShared } from '../process/readers.ts'

/** The callback version costs half as much as the promise version, and there may be many refs. */
const readFile = promisify(readFileWithCallback)

export interface StoredRef {
  readonly name: string
  readonly id: string
  /** The final target of a tag. Null if the object is not a tag. Undefined if the files do not say. */
  readonly peeled?: string | null
}

/** For larger files git is faster, because it reads only the part it needs. */
const MAX_PACKED_BYTES = 4 * 1024 * 1024
const MAX_LOOSE = 2000
/** With more names, sorting them for every page costs more than git. */
const MAX_NAMES = 10_000
const UNREADABLE = '\u{FFFD}'

/** Sorted by name. */
export async function readRefs(dir: string): Promise<StoredRef[] | null> {
  // In this order, because git packs a ref before it deletes its file.
  const loose = await readLoose(dir)
  const packed = loose && (await readPacked(dir))
  if (!packed) return null
  const refs = new Map([...packed, ...loose].map((ref) => [ref.name, ref]))
  return [...refs.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Loose refs. */
const looseFiles = async (dir: string): Promise<Dirent[]> => (await filesBelow(join(dir, 'refs'))).filter(isRef)

const isRef = ({ name }: Dirent) => !name.endsWith('.lock')

/** Folder by folder, because git deletes a folder at any time once it has packed all its refs. */
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
  // Packed or deleted meanwhile; the packed refs are read afterwards.
  const id = (await readFile(file, 'latin1').catch(nullIfMissing))?.trimEnd()
  if (id === undefined) return null
  return isObjectId(id) && !name.includes(UNREADABLE) ? { name, id } : 'unusual'
}

export interface RefName {
  /** Without its prefix. */
  readonly name: string
  /** Null for a loose ref. */
  readonly packed: string | null
}

/** All names below a prefix, sorted. Loose refs are not read yet, because there may be many. */
export async function readNames(dir: string, prefix: 'refs/heads' | 'refs/tags'): Promise<RefName[] | null> {
  const folder = join(dir, prefix)
  const files = (await filesBelow(folder).catch(noFiles)).filter(isRef)
  const loose = files.map((file) =>
    join(file.parentPath, file.name)
      .slice(folder.length + 1)
      .replaceAll(sep, '/'),
  )
  const stored = files.length > MAX_LOOSE || loose.some(isUnreadable) ? null : await readPacked(dir)
  if (!stored || stored.length > MAX_NAMES) return null
  const names = new Map<string, string | null>()
  for (const { name, id } of stored) if (name.startsWith(`${prefix}/`)) names.set(name.slice(prefix.length + 1), id)
  for (const name of loose) names.set(name, null)
  // UTF-16 code units of non-Latin names sort differently from bytes.
  const all = [...names].map(([name, packed]) => ({ name, packed, key: Buffer.from(name).toString('latin1') }))
  return all.toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

const isUnreadable = (name: string) => name.includes(UNREADABLE)

/** One ref. Null if it does not exist. Undefined if git must decide. */
export async function readRef(dir: string, name: string): Promise<string | null | undefined> {
  const loose = await readOne(dir, join(dir, name)).catch((error: unknown) => {
    if (hasCode(error, 'EISDIR')) return null
    throw error
  })
  if (loose) return loose === 'unusual' ? undefined : loose.id
  const packed = await readPacked(dir)
  return packed ? (packed.find((ref) => ref.name === name)?.id ?? null) : undefined
}

const packedFiles = new Memory<{ state: string; refs: StoredRef[] | null }>('packed refs', ({ refs }) =>
  (refs ?? []).reduce((sum, { name }) => sum + 200 + name.length, 0),
)

/**
 * Cached until the file is replaced. Git itself detects changes the same way, because the file is never modified in
 * place.
 */
export async function readPacked(dir: string): Promise<StoredRef[] | null> {
  const file = join(dir, 'packed-refs')
  const found = await stat(file, { bigint: true }).catch(nullIfMissing)
  if (!found) return []
  if (found.size > MAX_PACKED_BYTES) return null
  const state = [found.ino, found.size, found.mtimeNs, found.ctimeNs].join(' ')
  const known = packedFiles.get(dir, '')
  if (known?.state === state) return known.refs
  const text = await readFile(file, 'utf8')
  const refs = text.includes(UNREADABLE) ? null : parsePacked(text)
  packedFiles.set(dir, '', { state, refs })
  return refs
}

/** `<id> <name>`, and `^<id>` below a tag for its target. */
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

/** Peels the refs for which the files give no answer, all at once. A branch is never a tag. */
export async function peelRefs(dir: string, refs: readonly StoredRef[]): Promise<StoredRef[]> {
  const unknown = refs.filter(({ name, peeled }) => peeled === undefined && !name.startsWith('refs/heads/'))
  const answers = await askShared(
    dir,
    unknown.map(({ id }) => ({ verb: 'info', name: `${id}^{}` })),
  )
  const found = new Map(unknown.map(({ name, id }, n) => [name, answers[n]?.id === id ? null : answers[n]?.id]))
  return refs.map((ref) => ({ ...ref, peeled: ref.peeled ?? found.get(ref.name) ?? null }))
}
