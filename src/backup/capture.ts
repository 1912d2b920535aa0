/**
 * Captures moments of an instance in an archive, while the server runs. The database is read at one commit. Refs that
 * moved after that commit are stored as they were, because the database lists their changes. Objects and blobs are
 * immutable, so later ones do no harm.
 */
import { hash } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../clock.ts'
import { CannotStart, type Config } from '../config.ts'
import type { BlobColumn } from '../context.ts'
import { readKey } from '../features/instance/instance-key/file.ts'
import { repositoryExists } from '../git/storage/repositories.ts'
import { allEnded } from '../lib/async/all-ended.ts'
import { batchesOf } from '../lib/async/batches.ts'
import { randomHex, vault } from '../lib/crypto/secrets.ts'
import { nullIfMissing } from '../lib/files/system-errors.ts'
import type { Blobs } from '../store/blobs/blobs.ts'
import { VERSION } from '../version.ts'
import type { Archive } from './archive.ts'
import { contentOf, newestManifest } from './history.ts'
import {
  FORMAT,
  manifestName,
  manifestText,
  repositoryRecord,
  type DatabasePart,
  type Manifest,
  type MomentContent,
  type RepositoryRecord,
} from './manifest.ts'
import { countRefs, type Refs } from './refs.ts'
import { readHead, refsOf, stateOf, storeRepository } from './repositories.ts'
import type { Snapshot, Source } from './source.ts'

/** A new manifest begins after so many moments or so long, or when the changes exceed half of the database. */
const MOST_MOMENTS = 200
const LONGEST = HOUR
const LEAST_CHANGED = 16 * 1024 * 1024

const AT_ONCE = 4
const BLOBS_A_LIST = 50_000
const ROWS_A_QUERY = 500
/** A transaction that waits for so many others is found by the next complete moment. */
const LATE_EVENTS = 1000

export interface CaptureOptions {
  /** The columns with digests of blobs. */
  readonly blobColumns: readonly BlobColumn[]
  /** Puts the key of the instance into the backup. */
  readonly withKey?: boolean
  progress?(text: string): void
  /** The instance lacks something that its database names. */
  warn?(text: string): void
}

export interface Captured {
  readonly time: string
  readonly manifest: string
  readonly counts: MomentContent['counts']
}

/** A repository that the database names. */
interface Target {
  /** `storage/path` */
  readonly key: string
  readonly dir: string
  /** Null for a pool. */
  readonly project: number | null
  readonly pool: number | null
  readonly isWiki: boolean
  /** The default branch in the database; null: HEAD counts. */
  readonly head: string | null
}

interface Row {
  readonly id: number
  readonly disk_path: string
  readonly repository_storage: string
  readonly default_branch?: string
  readonly pool_id?: number | null
  readonly deleting?: boolean | number
}

export const occupied = ({ label }: Archive): CannotStart =>
  new CannotStart(`another process is writing to ${label}, such as the continuous backup of the server`)

/** The database has changed too much since the snapshot: a repository of the snapshot is gone. */
class Outdated extends Error {}

const TRIES = 5

export class Capturer {
  readonly #config: Config
  readonly #archive: Archive
  readonly #source: Source
  readonly #blobs: Blobs
  readonly #options: CaptureOptions
  /** Digests of repository records in the archive, by key, and their numbers of refs. */
  readonly #records = new Map<string, { digest: string; refs: number }>()
  /** The sum of these numbers. */
  #refs = 0
  /** The repositories of projects and pools. */
  readonly #keys = { projects: new Map<number, string[]>(), pools: new Map<number, string[]>() }
  readonly #poolOf = new Map<number, number>()
  /** Projects that are being deleted. Their rows go without an event. */
  readonly #leaving = new Set<number>()
  /** Blobs of the last moment, all of them in the archive. */
  #held = new Set<string>()
  #database: DatabasePart | null = null
  #current: { name: string; manifest: Manifest; changed: number } | null = null
  #lastEvent = 0
  /** Ids of the newest events. */
  #lastEvents = new Set<number>()
  /** The newest manifest of the archive, and all that other processes have written before. */
  #newest: string | null = null
  #manifests = new Set<string>()

  constructor(config: Config, archive: Archive, source: Source, blobs: Blobs, options: CaptureOptions) {
    this.#config = config
    this.#archive = archive
    this.#source = source
    this.#blobs = blobs
    this.#options = options
  }

  /** Whether this process may write to the archive. One process of an instance does so at a time. */
  takeLease(): Promise<boolean> {
    return this.#source.takeLease(this.#archive.label)
  }

  /** Learns what the archive has already. */
  async prepare(): Promise<void> {
    if (!(await this.takeLease())) throw occupied(this.#archive)
    // Requests to a bucket are repeated instead.
    if (!this.#archive.objects.isShared) await this.#archive.objects.check()
    const found = await newestManifest(this.#archive)
    this.#newest = found?.name ?? null
    this.#manifests = new Set(await this.#archive.manifestNames())
    if (!found) return
    const { instance } = found.manifest
    const own = await this.#instance()
    if (instance !== undefined && own !== null && instance !== own)
      throw new CannotStart(`${this.#archive.label} holds the backup of another instance: choose another destination`)
    const { database, repositories, blobs } = await contentOf(this.#archive, found)
    this.#database = database[0] ?? null
    for (const [key, digest] of repositories) this.#records.set(key, { digest, refs: 0 })
    this.#held = new Set(blobs)
  }

  /**
   * Stores repositories and blobs without a moment. The moment that follows then takes a short time, in which nothing
   * is deleted.
   */
  async storeAhead(): Promise<void> {
    const snapshot = await this.#source.snapshot()
    await this.#storeAllBlobs(snapshot)
    await this.#storeRepositories(snapshot, await this.#targets(snapshot))
  }

  /** Captures the newest commit. Null if nothing has changed since the last moment, unless it must be complete. */
  async capture({ isComplete = false } = {}): Promise<Captured | null> {
    for (let attempt = 1; ; attempt++) {
      const snapshot = await this.#source.snapshot()
      if (this.#current && snapshot.isUnchanged && !isComplete) return null
      try {
        return await this.#captureAt(snapshot, isComplete)
      } catch (error) {
        // The next moment must be complete: what this attempt has stored would not count as a change.
        this.#current = null
        if (!(error instanceof Outdated) || attempt === TRIES) throw error
      }
    }
  }

  async #captureAt(snapshot: Snapshot, isComplete: boolean): Promise<Captured> {
    const current = this.#current
    const time = snapshot.time.toISOString()
    const isNew =
      isComplete ||
      current === null ||
      current.manifest.moments.length >= MOST_MOMENTS ||
      current.changed + snapshot.changedBytes > Math.max(snapshot.bytes / 2, LEAST_CHANGED) ||
      Date.parse(time) - Date.parse(current.manifest.moments[0]!.time) > LONGEST
    const { changedBytes } = snapshot
    const database = isNew
      ? await snapshot.storeWhole(this.#archive, this.#database)
      : await snapshot.storeChanges(this.#archive)
    const { targets, gone } = isNew ? await this.#allTargets(snapshot) : await this.#changedTargets(snapshot)
    const repositories = [...(await this.#storeRepositories(snapshot, targets)), ...gone]
    const blobs = isNew ? await this.#storeAllBlobs(snapshot) : await this.#storeNewBlobs(snapshot)
    const counts = {
      ...(isNew && { rows: await snapshot.countRows() }),
      repositories: this.#records.size,
      refs: this.#refs,
      blobs: this.#held.size,
    }
    const content: MomentContent = {
      database,
      repositories: Object.fromEntries(
        (isNew ? [...this.#records.keys()] : repositories).map((key) => [key, this.#records.get(key)?.digest ?? null]),
      ),
      blobs: await this.#listBlobs(blobs),
      ...(isNew && { sealed_files: await this.#sealFiles() }),
      counts,
    }
    const moment = { time, content: await this.#archive.putJson(content) }
    const name = isNew ? manifestName(time, randomHex(4)) : current.name
    const manifest = isNew
      ? { ...(await this.#facts(snapshot)), moments: [moment] }
      : { ...current.manifest, moments: [...current.manifest.moments, moment] }
    await this.#assertSoleWriter()
    await this.#archive.writeManifest(name, manifestText(manifest))
    this.#newest = name
    this.#manifests.add(name)
    snapshot.saved()
    this.#current = { name, manifest, changed: isNew ? 0 : current.changed + changedBytes }
    if (isNew) this.#database = database
    this.#lastEvent = await lastEvent(snapshot)
    const recent = await snapshot.rows<{ id: number }>(
      `select id from events where id > ${this.#lastEvent - this.#lateEvents}`,
    )
    this.#lastEvents = new Set(recent.map(({ id }) => id))
    return { time, manifest: name, counts }
  }

  /** A restored copy of the instance, or an exchanged destination, would mix two histories. */
  async #assertSoleWriter(): Promise<void> {
    await this.#source.assertLease()
    const { label } = this.#archive
    const names = await this.#archive.manifestNames()
    if (names.some((name) => !this.#manifests.has(name)))
      throw new CannotStart(`another server writes to ${label}, too: choose a destination for each`)
    if (this.#newest !== null && !names.includes(this.#newest))
      throw new CannotStart(`${label} has lost ${this.#newest}: the next backup stores everything again`)
  }

  /** Names the instance without telling anything about its key. */
  async #instance(): Promise<string | null> {
    const [row] = await this.#source.rows<{ check_value: string }>('select check_value from instance_key')
    return row ? hash('sha256', row.check_value) : null
  }

  async #facts(snapshot: Snapshot): Promise<Omit<Manifest, 'moments'>> {
    const schema = await snapshot.rows<{ name: string }>('select name from kysely_migration order by name')
    const key = this.#options.withKey ? await readKey(this.#config) : null
    const instance = await this.#instance()
    return {
      format: FORMAT,
      version: VERSION,
      engine: this.#source.engine,
      ...(instance !== null && { instance }),
      schema: schema.map(({ name }) => name),
      ...(key && { secret_key: key.toString('hex') }),
    }
  }

  /** All repositories, or those of some projects and pools. */
  async #targets(snapshot: Snapshot, projectIds?: readonly number[], poolIds?: readonly number[]): Promise<Target[]> {
    const columns = 'id, disk_path, repository_storage'
    const projects = await someRows<Row>(
      snapshot,
      `select ${columns}, default_branch, pool_id, deleting from projects`,
      projectIds,
    )
    const pools = await someRows<Row>(snapshot, `select ${columns} from pools`, poolIds)
    for (const { id, pool_id, deleting } of projects) {
      if (pool_id != null) this.#poolOf.set(id, pool_id)
      if (deleting) this.#leaving.add(id)
      else this.#leaving.delete(id)
    }
    // Pools come last, because forks depend on them: a pool only grows.
    const targets = [
      ...projects.flatMap((row) => [
        this.#target(row, { project: row.id, pool: row.pool_id ?? null, head: row.default_branch ?? null }),
        this.#target(row, { project: row.id, isWiki: true }),
      ]),
      ...pools.map((row) => this.#target(row, { pool: row.id })),
    ]
    for (const { project, pool, key } of targets) {
      const [keys, id] = project === null ? [this.#keys.pools, pool!] : [this.#keys.projects, project]
      keys.set(id, [...new Set([...(keys.get(id) ?? []), key])])
    }
    return targets
  }

  /** Also the keys of repositories that no longer exist. */
  async #allTargets(snapshot: Snapshot): Promise<{ targets: Target[]; gone: string[] }> {
    for (const known of [this.#keys.projects, this.#keys.pools, this.#poolOf, this.#leaving]) known.clear()
    const targets = await this.#targets(snapshot)
    const keys = new Set(targets.map(({ key }) => key))
    return { targets, gone: this.#forget([...this.#records.keys()].filter((key) => !keys.has(key))) }
  }

  /** The same for projects with an event since the last moment, and their pools. */
  async #changedTargets(snapshot: Snapshot): Promise<{ targets: Target[]; gone: string[] }> {
    const ids = await this.#projectsWithEvents(snapshot)
    const left = new Set(
      (await someRows<{ id: number }>(snapshot, 'select id from projects', [...this.#leaving])).map(({ id }) => id),
    )
    ids.push(...[...this.#leaving].filter((id) => !left.has(id)))
    const pools = new Set(ids.flatMap((id) => this.#poolOf.get(id) ?? []))
    const rows = await someRows<{ id: number; pool_id: number | null }>(
      snapshot,
      'select id, pool_id from projects',
      ids,
    )
    for (const { pool_id } of rows) if (pool_id !== null) pools.add(pool_id)
    const targets = await this.#targets(snapshot, ids, [...pools])
    const found = {
      projects: new Set(targets.map(({ project }) => project)),
      pools: new Set(targets.map(({ project, pool }) => (project === null ? pool : null))),
    }
    const gone = [
      ...ids.filter((id) => !found.projects.has(id)).flatMap((id) => this.#keys.projects.get(id) ?? []),
      ...[...pools].filter((id) => !found.pools.has(id)).flatMap((id) => this.#keys.pools.get(id) ?? []),
    ]
    for (const id of ids) if (!found.projects.has(id)) this.#leaving.delete(id)
    return { targets, gone: this.#forget(gone) }
  }

  /** On PostgreSQL, an event can be committed after one with a later id. */
  get #lateEvents(): number {
    return this.#source.engine === 'postgres' ? LATE_EVENTS : 0
  }

  /** Since the last moment. */
  async #projectsWithEvents(snapshot: Snapshot): Promise<number[]> {
    const events = await snapshot.rows<{ id: number; project_id: number | null }>(
      `select id, project_id from events where id > ${this.#lastEvent - this.#lateEvents}`,
    )
    const fresh = events.filter(({ id }) => !this.#lastEvents.has(id))
    return [...new Set(fresh.flatMap(({ project_id }) => project_id ?? []))]
  }

  #remember(key: string, digest: string, refs: number): void {
    this.#refs += refs - (this.#records.get(key)?.refs ?? 0)
    this.#records.set(key, { digest, refs })
  }

  /** Returns the keys that were known. */
  #forget(keys: readonly string[]): string[] {
    return keys.filter((key) => {
      this.#refs -= this.#records.get(key)?.refs ?? 0
      return this.#records.delete(key)
    })
  }

  #target(
    { disk_path, repository_storage }: Row,
    { project = null, pool = null, isWiki = false, head = null }: Partial<Omit<Target, 'key' | 'dir'>>,
  ): Target {
    const path = isWiki ? disk_path.replace(/\.git$/, '.wiki.git') : disk_path
    const { storages } = this.#config
    const root = storages[repository_storage] ?? storages['default']!
    return { key: `${repository_storage}/${path}`, dir: join(root, path), project, pool, isWiki, head }
  }

  /** Returns the keys of repositories that have changed. */
  async #storeRepositories(snapshot: Snapshot, targets: readonly Target[]): Promise<string[]> {
    const changed: string[] = []
    let done = 0
    for (const some of batchesOf(targets, AT_ONCE)) {
      const results = await allEnded(some.map((target) => this.#storeRepository(snapshot, target)))
      changed.push(...some.filter((_, n) => results[n]).map(({ key }) => key))
      done += some.length
      this.#options.progress?.(`repositories: ${done} of ${targets.length}`)
    }
    return changed
  }

  async #storeRepository(snapshot: Snapshot, target: Target): Promise<boolean> {
    const { key, dir } = target
    if (!(await repositoryExists(dir))) {
      await this.#assertStillThere(target)
      return this.#forget([key]).length > 0
    }
    const known = this.#records.get(key)
    const before = known ? await this.#archive.readJson(known.digest, repositoryRecord) : null
    const state = await stateOf(dir)
    if (known && before?.state === state && before.head === (target.head ?? before.head)) {
      this.#remember(key, known.digest, countRefs(before.refs))
      return false
    }
    const now = await refsOf(dir)
    const refs = await this.#refsAt(snapshot, target, now)
    const isCurrent = refs === now
    const record: RepositoryRecord = await storeRepository(
      this.#archive,
      dir,
      // Refs that were put back differ from the files, so the next moment has to look again.
      { refs, head: target.head ?? (await readHead(dir)), state: isCurrent ? state : '', now },
      before,
    )
    const digest = await this.#archive.putJson(record)
    this.#remember(key, digest, refs.size)
    return digest !== known?.digest
  }

  async #assertStillThere({ key, project, isWiki }: Target): Promise<void> {
    if (project === null || isWiki) return
    const rows = await this.#source.rows(`select id from projects where id = ${project} and not deleting`)
    if (rows.length === 0) throw new Outdated()
    this.#options.warn?.(`the repository ${key} is missing`)
  }

  /** The refs at the time of the snapshot: takes back the moves that the snapshot does not know. */
  async #refsAt(snapshot: Snapshot, { project, isWiki }: Target, now: Refs): Promise<Refs> {
    if (project === null) return now
    const since = new Date(snapshot.time.getTime() - HOUR).toISOString()
    const wiki = isWiki ? 'wiki' : 'not wiki'
    const changes = `select id, ref, before from ref_changes where project_id = ${project} and ${wiki} and created_at >= '${since}' order by id`
    const pending = `select id, updates from pending_changes where project_id = ${project} and ${wiki} order by id`
    const [live, seen] = [this.#source, snapshot]
    const hasHistory = (await seen.rows(`select name from kysely_migration where name = '${REF_CHANGES}'`)).length > 0
    const [made, expected] = [hasHistory ? await live.rows<Change>(changes) : [], await live.rows<Pending>(pending)]
    const known = new Set((hasHistory ? await seen.rows<Change>(changes) : []).map(({ id }) => id))
    const knownPending = new Set((await seen.rows<Pending>(pending)).map(({ id }) => id))
    const moves = [
      ...made.filter(({ id }) => !known.has(id)),
      ...expected
        .filter(({ id }) => !knownPending.has(id))
        .flatMap(({ updates }) => JSON.parse(updates) as { ref: string; before: string | null }[]),
    ]
    if (moves.length === 0) return now
    const refs = new Map(now)
    for (const { ref, before } of moves.toReversed()) {
      if (before === null) refs.delete(ref)
      else refs.set(ref, before)
    }
    return refs
  }

  /** Returns all blobs that rows refer to. */
  async #storeAllBlobs(snapshot: Snapshot): Promise<Set<string>> {
    const all = await this.#blobsIn(snapshot, 'is not null')
    await this.#storeBlobs(all)
    // Others may be removed from the archive once no moment needs them.
    this.#held = new Set([...all].filter((digest) => this.#held.has(digest)))
    return this.#held
  }

  /** Returns the blobs that rows refer to since the last moment. */
  async #storeNewBlobs(snapshot: Snapshot): Promise<Iterable<string>> {
    const changed = await snapshot.changedDigests(this.#options.blobColumns)
    if (changed === null) return this.#storeBlobs(await this.#blobsIn(snapshot, 'is not null'))
    const added = new Set<string>()
    for (const some of batchesOf(
      [...changed].filter((digest) => !this.#held.has(digest)),
      ROWS_A_QUERY,
    )) {
      const list = some.map((digest) => `'${digest}'`).join()
      for (const digest of await this.#blobsIn(snapshot, `in (${list})`)) added.add(digest)
    }
    return this.#storeBlobs(added)
  }

  /** The values of all columns that refer to blobs, by a condition. */
  async #blobsIn(snapshot: Snapshot, condition: string): Promise<Set<string>> {
    const digests = new Set<string>()
    for (const { table, column } of this.#options.blobColumns)
      for (const { digest } of await snapshot.rows<{ digest: string }>(
        `select distinct "${column}" as digest from "${table}" where "${column}" ${condition}`,
      ))
        digests.add(digest)
    return digests
  }

  /** Returns those that were added. */
  async #storeBlobs(digests: ReadonlySet<string>): Promise<string[]> {
    const added: string[] = []
    const missing = [...digests].filter((digest) => !this.#held.has(digest))
    for (const [n, digest] of missing.entries()) {
      this.#options.progress?.(`files: ${n} of ${missing.length}`)
      if (!(await this.#storeBlob(digest))) continue
      this.#held.add(digest)
      added.push(digest)
    }
    return added
  }

  async #storeBlob(digest: string): Promise<boolean> {
    if (await this.#archive.objects.has(digest)) return true
    const opened = await this.#blobs.open(digest)
    if (!opened) {
      this.#options.warn?.(`the blob ${digest} is missing`)
      return false
    }
    const stored = await this.#archive.objects.put(opened.stream)
    if (stored.digest === digest) return true
    await this.#archive.objects.remove(stored.digest)
    this.#options.warn?.(`the blob ${digest} is damaged`)
    return false
  }

  async #listBlobs(digests: Iterable<string>): Promise<string[]> {
    const lists: string[] = []
    for (const some of batchesOf([...digests].toSorted(), BLOBS_A_LIST)) lists.push(await this.#archive.putJson(some))
    return lists
  }

  /** The host keys and the configuration file, which only the key of the instance opens. */
  async #sealFiles(): Promise<Record<string, string>> {
    const key = await readKey(this.#config)
    if (!key) return {}
    const { data } = this.#config
    const names = (await readdir(join(data, 'ssh')).catch(nullIfMissing)) ?? []
    const paths = [
      ...names.filter((name) => /^ssh_host_\w+_key$/.test(name)).map((name) => `ssh/${name}`),
      'mortise.config.json',
    ]
    const sealed: Record<string, string> = {}
    for (const path of paths) {
      const text = await readFile(join(data, path), 'utf8').catch(nullIfMissing)
      if (text !== null) sealed[path] = vault(key).seal(text)
    }
    return sealed
  }
}

/** All rows, or those with these ids. */
async function someRows<T>(snapshot: Snapshot, select: string, ids?: readonly number[]): Promise<T[]> {
  if (ids === undefined) return snapshot.rows<T>(`${select} order by id`)
  const rows: T[] = []
  for (const some of batchesOf(ids, ROWS_A_QUERY))
    rows.push(...(await snapshot.rows<T>(`${select} where id in (${some.join()}) order by id`)))
  return rows
}

/** The migration that creates the history of refs. A server that is about to be upgraded may lack it. */
const REF_CHANGES = '2026-11-18-1100-ref-changes'

interface Change {
  readonly id: number
  readonly ref: string
  readonly before: string | null
}

interface Pending {
  readonly id: number
  readonly updates: string
}

async function lastEvent(snapshot: Snapshot): Promise<number> {
  const [row] = await snapshot.rows<{ id: number | null }>('select max(id) as id from events')
  return Number(row?.id ?? 0)
}
