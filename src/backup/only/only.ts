/**
 * Brings one project or group back into a stopped instance, beside the living ones. Files are written first, then all
 * rows in one transaction: a killed command leaves files without rows, which the next attempt replaces.
 */
import { sql } from 'kysely'
import { openApp } from '../../app.ts'
import { CannotStart, usesPostgres, type Config } from '../../config.ts'
import type { App, TransactionApp } from '../../context.ts'
import { refreshAuthorizations } from '../../features/access/authorizations/service.ts'
import { addAncestorsOf } from '../../features/identity/namespaces/service.ts'
import { findKeyCheck } from '../../features/instance/instance-key/service.ts'
import { ensureTopics } from '../../features/projects/topics/service.ts'
import { recountRestored } from '../../features/projects/projects/restoring.ts'
import { removeRepositoryLater } from '../../features/projects/projects/removal.ts'
import { repositoryDir, wikiDir } from '../../features/projects/repositories/repository.ts'
import { checkProject } from '../../features/repository/checking/service.ts'
import { removeRepository } from '../../git/storage/repositories.ts'
import { assertAlone } from '../../jobs/processes.ts'
import type { Db } from '../../store/database.ts'
import { idList, inIdList } from '../../store/dialect.ts'
import { foreignKeysOf } from '../../store/foreign-keys.ts'
import { transact } from '../../store/transact.ts'
import type { Archive } from '../archive.ts'
import { contentOf, findMoment, type Content } from '../history.ts'
import type { Manifest } from '../manifest.ts'
import { assertKnown, SILENT, writeBlobs, writeRepositories, type RestoreOptions } from '../restore.ts'
import { copyRows } from './copy.ts'
import { openScratch, type Scratch } from './scratch.ts'
import { Selection } from './selection.ts'
import { assertDeleted, findSubject, preparePath, unfinished, type Subject } from './subject.ts'

export interface OnlyOptions extends RestoreOptions {
  /** The full path of a project or group at that moment. */
  readonly only: string
  /** Another path, in the same group. */
  readonly as?: string | null
}

export interface RestoredPart {
  readonly time: string
  readonly kind: 'project' | 'group'
  readonly path: string
  /** By table. */
  readonly rows: Readonly<Record<string, number>>
  /** Rows that refer to something that no longer exists, by table. */
  readonly leftOut: Readonly<Record<string, number>>
  readonly refs: number
  /** The stored files that the project or group uses. */
  readonly files: number
  readonly faults: readonly string[]
}

export async function restoreOnly(archive: Archive, config: Config, options: OnlyOptions): Promise<RestoredPart> {
  const { progress } = options
  const found = await findMoment(archive, options.at ?? null)
  await assertKnown(found.manifest)
  assertSameEngine(found.manifest, config)
  const time = found.moments.at(-1)!.time
  await using opened = await openApp({ ...config, readOnly: false }, { logTo: SILENT, mustExist: true })
  const { app } = opened
  await assertAlone(app.db, app.holder)
  progress?.('reading the database of the backup')
  const content = await contentOf(archive, found)
  await using scratch = await openScratch(archive, content, found.manifest.schema, config)
  const backup = scratch.store.db
  await assertSameInstance(app, backup)
  const subject = await findSubject(backup, options.only.split('/').filter(Boolean).join('/'), time)
  await assertDeleted(app, subject)
  const path = await preparePath(app, backup, subject, options.as ?? null)
  progress?.('choosing rows')
  const selection = await Selection.make(backup, app.db, await foreignKeysOf(app.store), subject)
  const parts = await partsOf(selection)
  await assertRemoved(app, subject, parts)
  const leftOut = await selection.leftOut()
  const files = await writeFiles(app, archive, content, selection, parts, options)
  const rows = await files.orRemove(() =>
    transact(app, (app) => writeRows(app, scratch, selection, { ...parts, subject, progress })),
  )
  progress?.('checking what was restored')
  const faults = [...files.faults, ...(await faultsOf(app, parts.projects))]
  return { time, kind: subject.kind, path, rows, leftOut, refs: files.refs, files: files.count, faults }
}

function assertSameEngine({ engine }: Manifest, config: Config): void {
  const own = usesPostgres(config) ? 'postgres' : 'sqlite'
  const named = { postgres: 'PostgreSQL', sqlite: 'SQLite' }
  if (engine !== own) throw new CannotStart(`the backup is one of ${named[engine]}, the instance uses ${named[own]}`)
}

/** The value is random, and replaced with the key. */
async function assertSameInstance({ db }: App, backup: Db): Promise<void> {
  const [own, other] = await Promise.all([findKeyCheck(db), findKeyCheck(backup)])
  if (own.sealed === null || own.sealed !== other.sealed)
    throw new CannotStart('the backup is one of another instance, or the key of the instance was replaced since')
}

interface Stored {
  readonly id: number
  readonly disk_path: string
  readonly repository_storage: string
}

/** The chosen records that have files. */
interface PartsOfSelection {
  readonly projects: readonly Stored[]
  readonly pools: readonly Stored[]
  readonly groups: readonly number[]
}

async function partsOf(selection: Selection): Promise<PartsOfSelection> {
  const stored = (table: string) => all(selection.rows<Stored>(table, ['disk_path', 'repository_storage']))
  const groups = await all(selection.rows<{ id: number }>('namespaces', ['kind']))
  return { projects: await stored('projects'), pools: await stored('pools'), groups: groups.map(({ id }) => id) }
}

async function all<T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> {
  const rows: T[] = []
  for await (const some of batches) rows.push(...some)
  return rows
}

const DELETIONS = ['project.deleted', 'project.purged', 'group.deleted', 'group.purged'] as const

/** Background work of the deletion would otherwise delete what is restored. */
async function assertRemoved(app: App, { full_path }: Subject, parts: PartsOfSelection): Promise<void> {
  const { db } = app
  const ids = { project: new Set(parts.projects.map(({ id }) => id)), group: new Set(parts.groups) }
  const events = await db
    .selectFrom('events as e')
    .select(['e.name', 'e.payload'])
    .where('e.name', 'in', [...DELETIONS])
    .where((eb) =>
      eb.or([
        eb('e.dispatched_at', 'is', null),
        eb.exists(
          eb.selectFrom('jobs as j').select('j.id').whereRef('j.event_id', '=', 'e.id').where('j.state', '=', 'ready'),
        ),
      ]),
    )
    .execute()
  const isOurs = events.some(({ name, payload }) =>
    ids[name.startsWith('project') ? 'project' : 'group'].has((JSON.parse(payload) as { id: number }).id),
  )
  const jobs = await db
    .selectFrom('jobs')
    .select('payload')
    .where('name', '=', removeRepositoryLater.name)
    .where('state', '=', 'ready')
    .execute()
  const dirs = new Set(foldersOf(app, parts))
  if (isOurs || jobs.some(({ payload }) => dirs.has((JSON.parse(payload) as { dir: string }).dir)))
    throw unfinished(full_path)
}

const foldersOf = (app: App, { projects, pools }: PartsOfSelection): string[] => [
  ...projects.flatMap((project) => [repositoryDir(app, project), wikiDir(app, project)]),
  ...pools.map((pool) => repositoryDir(app, pool)),
]

interface WrittenFiles {
  readonly refs: number
  readonly count: number
  readonly faults: readonly string[]
  /** Removes the repositories if the work fails. */
  orRemove<T>(work: () => Promise<T>): Promise<T>
}

async function writeFiles(
  app: App,
  archive: Archive,
  content: Content,
  selection: Selection,
  parts: PartsOfSelection,
  { progress }: OnlyOptions,
): Promise<WrittenFiles> {
  const folders = foldersOf(app, parts)
  const remove = async () => {
    for (const dir of folders) await removeRepository(dir)
  }
  const orRemove = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      await remove()
      throw error
    }
  }
  // No row names these folders: a killed command has left them.
  await remove()
  const names = [...parts.projects, ...parts.pools].flatMap(({ repository_storage, disk_path }) => {
    const key = `${repository_storage}/${disk_path}`
    return [key, key.replace(/\.git$/, '.wiki.git')]
  })
  const repositories = new Map(
    names.flatMap((name) => (content.repositories.has(name) ? [[name, content.repositories.get(name)!]] : [])),
  )
  const digests = await digestsOf(app, selection)
  const faults = [...digests].filter((digest) => !content.blobs.has(digest)).map((digest) => `${digest}: no such file`)
  const refs = await orRemove(async () => {
    const refs = await writeRepositories(archive, { repositories }, app.config, progress)
    const blobs = new Set<string>()
    for (const digest of digests) if (content.blobs.has(digest) && !(await app.blobs.has(digest))) blobs.add(digest)
    await writeBlobs(archive, { blobs }, app.config, progress)
    return refs
  })
  return { refs, count: digests.size, faults, orRemove }
}

/** The blobs that chosen rows name. */
async function digestsOf({ blobColumns }: App, selection: Selection): Promise<Set<string>> {
  const digests = new Set<string>()
  for (const { table, column } of blobColumns)
    for await (const rows of selection.rows<{ id: number; digest: string | null }>(table, [`${column} as digest`]))
      for (const { digest } of rows) if (digest !== null) digests.add(digest)
  return digests
}

async function writeRows(
  app: TransactionApp,
  scratch: Scratch,
  selection: Selection,
  { projects, groups, subject, progress }: PartsOfSelection & { subject: Subject; progress: OnlyOptions['progress'] },
): Promise<Record<string, number>> {
  const { db } = app
  const counts = await copyRows(app, scratch, selection, progress)
  const ids = projects.map(({ id }) => id)
  await addAncestorsOf(app, groups)
  await recountRestored(app, ids)
  const topics = await sql<{ name: string }>`select distinct name from project_topics
    where ${inIdList(db, 'project_id', idList(db, ids))}`.execute(db)
  await ensureTopics(
    app,
    topics.rows.map(({ name }) => name),
  )
  await refreshAuthorizations(app, subject.kind === 'group' ? { group: subject.id } : { project: subject.id })
  return counts
}

async function faultsOf(app: App, restored: readonly { id: number }[]): Promise<string[]> {
  const faults: string[] = []
  for (const { id } of restored) {
    const { full_path, ...project } = await app.db
      .selectFrom('projects as p')
      .innerJoin('namespaces as n', 'n.id', 'p.namespace_id')
      .selectAll('p')
      .select('n.full_path')
      .where('p.id', '=', id)
      .executeTakeFirstOrThrow()
    const finding = await checkProject(app, project, `${full_path}/${project.path}`)
    faults.push(...finding.faults.map((fault) => `${finding.path}: ${fault}`))
  }
  return faults
}
