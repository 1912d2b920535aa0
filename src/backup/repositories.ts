/** Stores repositories in an archive, and writes them back: packs as files in parts, refs as records. */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open, readdir, rm, stat, writeFile, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { HOUR } from '../clock.ts'
import { indexLast } from '../git/objects/pack-index.ts'
import { objectInfos } from '../git/objects/objects.ts'
import { folder } from '../git/process/arguments.ts'
import { git, LONG_LISTING } from '../git/process/command.ts'
import { filesBelow, readRefs } from '../git/refs/ref-files.ts'
import { poolOf, useObjectsOf } from '../git/storage/alternates.ts'
import { copyObjects } from '../git/storage/copy.ts'
import { publishWhole } from '../git/storage/drafts.ts'
import { headOf, initialise } from '../git/storage/repositories.ts'
import { hasCode, nullIfMissing } from '../lib/files/system-errors.ts'
import type { Archive } from './archive.ts'
import type { Pack, Parts, RepositoryRecord } from './manifest.ts'
import { packRefs, readStoredRefs, storeBuckets, type Refs } from './refs.ts'

/** Below the limit of a single upload, and small enough to be sent again after a failure. */
const PART_BYTES = 64 * 1024 * 1024
const READ_BYTES = 1024 * 1024

/**
 * A repository that has collected so many packs in the archive is stored anew from its own packs. Housekeeping replaces
 * those, so this stores most of the repository again.
 */
const MOST_PACKS = 200

/** Housekeeping may replace packs while they are read. */
const TRIES = 5

export interface RepositoryState {
  readonly state: string
  readonly head: string
  readonly refs: Refs
}

/** Changes with every change of the refs. Reads names and times only. */
export async function stateOf(dir: string): Promise<string> {
  const files = (await filesBelow(join(dir, 'refs'))).map((file) => join(file.parentPath, file.name))
  const paths = [
    ...files.toSorted(),
    ...['HEAD', 'packed-refs', 'withheld', 'objects/info/alternates'].map((name) => join(dir, name)),
  ]
  const hash = createHash('sha256')
  for (const path of paths) {
    const found = await stat(path).catch(nullIfMissing)
    if (found) hash.update(`${relative(dir, path)} ${found.mtimeMs} ${found.size} ${found.ino}\n`)
  }
  return hash.digest('hex')
}

/** All refs, hidden ones included. */
export async function refsOf(dir: string): Promise<Refs> {
  const stored = await readRefs(dir)
  if (stored) return new Map(stored.map(({ name, id }) => [name, id]))
  const lines = await git(dir, ['for-each-ref', '--format=%(objectname) %(refname)'], { maxOutput: LONG_LISTING })
  return new Map(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => [line.slice(41), line.slice(0, 40)]),
  )
}

/**
 * Stores the objects that the refs need and the archive lacks. `refs` are those of the captured moment; `now` are those
 * of the repository, whose objects are stored too.
 */
export async function storeRepository(
  archive: Archive,
  dir: string,
  { refs, head, state, now }: RepositoryState & { now: Refs },
  before: RepositoryRecord | null,
): Promise<RepositoryRecord> {
  const packed = await packRefs(refs)
  const known = before && { refs: await readStoredRefs(archive, before.refs, packed.buckets), packs: before.packs }
  const tips = [...new Set([...refs.values(), ...now.values()])]
  const packs = await storeObjects(archive, dir, tips, known)
  await storeBuckets(archive, packed, before?.refs ?? null)
  const pool = await poolOf(dir)
  return {
    head,
    refs: packed.stored,
    packs,
    pool: pool && relative(join(dir, '../../..'), pool),
    withheld: await storeFile(archive, join(dir, 'withheld')).catch(nullIfMissing),
    state,
  }
}

async function storeObjects(
  archive: Archive,
  dir: string,
  tips: readonly string[],
  before: { refs: Refs; packs: Pack[] } | null,
): Promise<Pack[]> {
  if (before === null || before.packs.length >= MOST_PACKS) return storeAllPacks(archive, dir, before?.packs ?? [])
  const known = new Set(before.refs.values())
  const fresh = tips.filter((id) => !known.has(id))
  if (fresh.length === 0) return before.packs
  const old = [...known]
  const present = await objectInfos(dir, old)
  const without = old.filter((_, n) => present[n] !== null)
  const packed = await storePackFrom(archive, (to) => copyObjects(dir, to, { tips: fresh, without }))
  return uniquePacks([...before.packs, ...packed])
}

/** All packs of the repository, and one more with its loose objects. */
async function storeAllPacks(archive: Archive, dir: string, before: readonly Pack[]): Promise<Pack[]> {
  for (let attempt = 1; ; attempt++) {
    try {
      const known = new Map(before.map((one) => [one.name, one]))
      const packs = await storePacks(archive, dir, known)
      const loose = await looseObjects(dir)
      const packed = loose.length === 0 ? [] : await storePackFrom(archive, (to) => packLoose(dir, to, loose))
      // Housekeeping may have moved loose objects to a new pack meanwhile.
      const more = await storePacks(archive, dir, new Map([...known, ...packs.map((one) => [one.name, one] as const)]))
      return uniquePacks([...packs, ...more, ...packed])
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === TRIES) throw error
    }
  }
}

/** Equal objects give a pack of the same name. */
const uniquePacks = (packs: readonly Pack[]): Pack[] => [...new Map(packs.map((one) => [one.name, one])).values()]

const PACK_FILE = /^(pack-[0-9a-f]{40})\.(pack|idx|rev|bitmap|mtimes)$/

async function storePacks(archive: Archive, dir: string, known: ReadonlyMap<string, Pack>): Promise<Pack[]> {
  const packFolder = join(dir, 'objects/pack')
  const files = (await readdir(packFolder)).map((name) => PACK_FILE.exec(name)).filter((found) => found !== null)
  const packs: Pack[] = []
  for (const [name, some] of Map.groupBy(files, (found) => found[1]!)) {
    const kinds = some.map((found) => found[2]!)
    // Git finds a pack by its index, which is written last.
    if (!kinds.includes('idx') || !kinds.includes('pack')) continue
    packs.push(known.get(name) ?? (await storePack(archive, packFolder, name, kinds)))
  }
  return packs
}

async function storePack(archive: Archive, packFolder: string, name: string, kinds: readonly string[]): Promise<Pack> {
  const files: Pack['files'] = {}
  for (const kind of kinds) files[kind] = await storeFile(archive, join(packFolder, `${name}.${kind}`))
  return { name, files }
}

async function looseObjects(dir: string): Promise<string[]> {
  const objects = join(dir, 'objects')
  const shards = (await readdir(objects)).filter((name) => /^[0-9a-f]{2}$/.test(name))
  const ids = await Promise.all(
    shards.map(async (shard) => {
      const names = (await readdir(join(objects, shard)).catch(nullIfMissing)) ?? []
      return names.filter((name) => /^[0-9a-f]{38}$/.test(name)).map((name) => shard + name)
    }),
  )
  return ids.flat()
}

async function packLoose(from: string, to: string, ids: readonly string[]): Promise<void> {
  // Objects may be deleted meanwhile; then no ref needs them.
  const present = await objectInfos(from, ids)
  const input = `${ids.filter((_, n) => present[n] !== null).join('\n')}\n`
  await git(to, ['pack-objects', '--non-empty', '--quiet', folder(join(to, 'objects/pack/pack'))], {
    input,
    environment: { GIT_ALTERNATE_OBJECT_DIRECTORIES: JSON.stringify(join(from, 'objects')) },
    deadline: HOUR,
  })
}

/** Runs in a repository of its own, so that nothing is written to the source. */
async function storePackFrom(archive: Archive, fill: (to: string) => Promise<void>): Promise<Pack[]> {
  const to = await mkdtemp(join(tmpdir(), 'mortise-backup-'))
  try {
    await initialise(to, 'master')
    await fill(to)
    return await storePacks(archive, to, new Map())
  } finally {
    await rm(to, { recursive: true, force: true })
  }
}

async function storeFile(archive: Archive, path: string): Promise<Parts> {
  await using file = await open(path)
  const { size } = await file.stat()
  const parts: string[] = []
  for (let at = 0; at < size; at += PART_BYTES) {
    const stream = file.createReadStream({
      start: at,
      end: Math.min(at + PART_BYTES, size) - 1,
      autoClose: false,
      highWaterMark: READ_BYTES,
    })
    parts.push((await archive.objects.put(stream)).digest)
  }
  return { size, parts }
}

/** Writes a repository to an unused path. */
export async function writeRepository(archive: Archive, dir: string, record: RepositoryRecord): Promise<void> {
  await mkdir(dirname(dir), { recursive: true, mode: 0o700 })
  await publishWhole(dir, async (draft) => {
    await initialise(draft, record.head)
    for (const pack of record.packs) {
      const names = indexLast(Object.keys(pack.files).map((kind) => `${pack.name}.${kind}`))
      for (const name of names)
        await writeParts(archive, join(draft, 'objects/pack', name), pack.files[name.slice(pack.name.length + 1)]!)
    }
    if (record.withheld) await writeParts(archive, join(draft, 'withheld'), record.withheld)
    if (record.pool) await useObjectsOf(draft, join(dir, '../../..', record.pool))
    await writeRefs(draft, await readStoredRefs(archive, record.refs))
  })
}

async function writeParts(archive: Archive, path: string, parts: Parts): Promise<void> {
  await using file: FileHandle = await open(path, 'wx', 0o444)
  for await (const chunk of archive.readParts(parts)) await file.writeFile(chunk)
  await file.sync()
}

/** Git reads sorted packed refs without peeled targets, too. */
async function writeRefs(dir: string, refs: Refs): Promise<void> {
  const names = [...refs.keys()].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
  if (names.length === 0) return
  const lines = names.map((name) => `${refs.get(name)} ${name}\n`)
  await writeFile(join(dir, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`, { flush: true })
}

export async function readHead(dir: string): Promise<string> {
  return (await headOf(dir)) ?? 'master'
}
