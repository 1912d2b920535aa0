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
  /** Blobs in the archive. */
  #stored = new Set<string>()
  #database: DatabasePart | null = null
  #current: { name: string; manifest: Manifest; changed: number } | null = null
  #lastEvent = 0
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
    this.#stored = new Set(blobs)
  }

  /**
   * Stores repositories and blobs without a moment. The moment that follows then takes a short time, in which nothing
   * is deleted.
   */
  async storeAhead(): Promise<void> {
    const snapshot = await this.#source.snapshot()
    await this.#storeBlobs(snapshot)
    await this.#storeRepositories(snapshot, await this.#targets(snapshot))
  }

  /** Captures the newest commit. Null if nothing has changed since the last moment. */
  async capture(): Promise<Captured | null> {
    for (let attempt = 1; ; attempt++) {
      const snapshot = await this.#source.snapshot()
      if (this.#current && snapshot.isUnchanged) return null
      try {
        return await this.#captureAt(snapshot)
      } catch (error) {
        // The next moment must be complete: what this attempt has stored would not count as a change.
        this.#current = null
        if (!(error instanceof Outdated) || attempt === TRIES) throw error
      }
    }
  }

  async #captureAt(snapshot: Snapshot): Promise<Captured> {
    const current = this.#current
    const time = snapshot.time.toISOString()
    const isNew =
      current === null ||
      current.manifest.moments.length >= MOST_MOMENTS ||
      current.changed + snapshot.changedBytes > Math.max(snapshot.bytes / 2, LEAST_CHANGED) ||
      Date.parse(time) - Date.parse(current.manifest.moments[0]!.time) > LONGEST
    const { changedBytes } = snapshot
    const targets = await this.#targets(snapshot)
    const database = isNew
      ? await snapshot.storeWhole(this.#archive, this.#database)
      : await snapshot.storeChanges(this.#archive)
    const changed = isNew ? targets : await this.#changedAmong(snapshot, targets)
    const repositories = [...(await this.#storeRepositories(snapshot, changed)), ...this.#forgetOthers(targets)]
    const blobs = await this.#storeBlobs(snapshot)
    const counts = {
      rows: await snapshot.countRows(),
      repositories: this.#records.size,
      refs: [...this.#records.values()].reduce((sum, { refs }) => sum + refs, 0),
      blobs: blobs.all.size,
    }
    const content: MomentContent = {
      database,
      repositories: Object.fromEntries(
        (isNew ? [...this.#records.keys()] : repositories).map((key) => [key, this.#records.get(key)?.digest ?? null]),
      ),
      blobs: await this.#listBlobs(isNew ? blobs.all : blobs.added),
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
      throw new CannotStart(`${label} has lost ${this.#newest}, so the next backup begins anew`)
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

  /** Pools come last, because forks depend on them: a pool only grows. */
  async #targets(snapshot: Snapshot): Promise<Target[]> {
    const columns = 'id, disk_path, repository_storage'
    const projects = await snapshot.rows<Row>(`select ${columns}, default_branch, pool_id from projects order by id`)
    const pools = await snapshot.rows<Row>(`select ${columns} from pools order by id`)
    return [
      ...projects.flatMap((row) => [
        this.#target(row, { project: row.id, pool: row.pool_id, head: row.default_branch }),
        this.#target(row, { project: row.id, isWiki: true }),
      ]),
      ...pools.map((row) => this.#target(row, { pool: row.id })),
    ]
  }

  /** Repositories of projects with an event since the last moment, and their pools. */
  async #changedAmong(snapshot: Snapshot, targets: readonly Target[]): Promise<Target[]> {
    const rows = await snapshot.rows<{ id: number }>(
      `select distinct project_id as id from events where id > ${this.#lastEvent} and project_id is not null`,
    )
    const ids = new Set(rows.map(({ id }) => Number(id)))
    const own = targets.filter(({ project }) => project !== null && ids.has(project))
    const pools = new Set(own.map(({ pool }) => pool))
    return [...own, ...targets.filter(({ project, pool }) => project === null && pools.has(pool))]
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
      const results = await Promise.all(some.map((target) => this.#storeRepository(snapshot, target)))
      changed.push(...some.filter((_, n) => results[n]).map(({ key }) => key))
      done += some.length
      this.#options.progress?.(`${done} of ${targets.length} repositories`)
    }
    return changed
  }

  async #storeRepository(snapshot: Snapshot, target: Target): Promise<boolean> {
    const { key, dir } = target
    if (!(await repositoryExists(dir))) {
      await this.#assertStillThere(target)
      return this.#records.delete(key)
    }
    const known = this.#records.get(key)
    const before = known ? await this.#archive.readJson(known.digest, repositoryRecord) : null
    const state = await stateOf(dir)
    if (known && before?.state === state && before.head === (target.head ?? before.head)) {
      known.refs = countRefs(before.refs)
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
    this.#records.set(key, { digest, refs: refs.size })
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

  /** Repositories whose projects no longer exist. Returns their keys. */
  #forgetOthers(targets: readonly Target[]): string[] {
    const keys = new Set(targets.map(({ key }) => key))
    const others = [...this.#records.keys()].filter((key) => !keys.has(key))
    for (const key of others) this.#records.delete(key)
    return others
  }

  async #storeBlobs(snapshot: Snapshot): Promise<{ all: Set<string>; added: string[] }> {
    const all = new Set<string>()
    for (const { table, column } of this.#options.blobColumns)
      for (const { digest } of await snapshot.rows<{ digest: string }>(
        `select distinct "${column}" as digest from "${table}" where "${column}" is not null`,
      ))
        all.add(digest)
    const added: string[] = []
    const missing = [...all].filter((digest) => !this.#stored.has(digest))
    for (const [n, digest] of missing.entries()) {
      this.#options.progress?.(`${n} of ${missing.length} files`)
      if (!(await this.#storeBlob(digest))) continue
      this.#stored.add(digest)
      added.push(digest)
    }
    return { all: new Set([...all].filter((digest) => this.#stored.has(digest))), added }
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
