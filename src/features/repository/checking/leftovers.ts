/** Finds files and blobs that no row references, and references to missing files and blobs. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { DAY, HOUR } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { isLeftover } from '../../../git/storage/drafts.ts'
import { findOrphans, sweepRepository } from '../../../git/storage/sweep.ts'
import { discardBlob, findUnnamed } from '../../instance/blobs/jobs.ts'
import { findHalfWritten } from '../../instance/spool/jobs.ts'
import { removeRepositoryLater } from '../../projects/projects/removal.ts'
import type { CheckOptions, Finding } from './findings.ts'

const UNKNOWN = ['the store does not know of it']

/**
 * Folders of repositories and wikis without a project. A recent folder may belong to a project that is being created.
 */
export async function* checkFolders(app: App): AsyncGenerator<Finding> {
  const going = new Set((await payloadsOf<{ dir: string }>(app, removeRepositoryLater.name)).map(({ dir }) => dir))
  for (const storage of new Set(Object.values(app.config.storages))) {
    for (const folder of await foldersIn(storage)) {
      const dir = join(storage, folder)
      if (going.has(dir) || (await isYoung(dir))) continue
      const disk_path = folder.replace(/\.wiki\.git$/, '.git')
      const project = app.db.selectFrom('projects').select('id').where('disk_path', '=', disk_path)
      if (!(await project.executeTakeFirst())) yield { path: folder, faults: UNKNOWN }
    }
  }
}

/** `ab/cd/abcd….git` */
async function foldersIn(storage: string): Promise<string[]> {
  const found: string[] = []
  for (const first of (await namesIn(storage)).filter(isShard))
    for (const second of (await namesIn(join(storage, first))).filter(isShard))
      for (const name of await namesIn(join(storage, first, second)))
        if (!isLeftover(name)) found.push(join(first, second, name))
  return found
}

const isShard = (name: string) => /^[0-9a-f]{2}$/.test(name)

const namesIn = (dir: string) => readdir(dir).catch(() => [] as string[])

const isYoung = async (dir: string) => ((await stat(dir).catch(() => null))?.mtimeMs ?? 0) > Date.now() - HOUR

export type Leftovers = Required<Pick<Finding, 'leftovers' | 'repairs'>>

/** No process works on a repository for an hour. */
export async function leftoversIn(dir: string, repair: boolean): Promise<Leftovers> {
  const before = new Date(Date.now() - HOUR)
  if (!repair) return { leftovers: await findOrphans(dir, { before }), repairs: [] }
  return { leftovers: [], repairs: (await sweepRepository(dir, { before })).map((name) => `removed ${name}`) }
}

const DIGESTS_A_PAGE = 1000

/** Blobs that rows reference but that do not exist. */
export async function* checkReferencedBlobs(app: App): AsyncGenerator<Finding> {
  for (const { table, column } of app.blobColumns)
    for (let last = ''; ;) {
      const { rows } = await sql<{ digest: string }>`select distinct ${sql.ref(column)} as digest
        from ${sql.table(table)} where ${sql.ref(column)} > ${last} order by 1 limit ${DIGESTS_A_PAGE}`.execute(app.db)
      for (const { digest } of rows)
        if (!(await app.blobs.has(digest))) yield { path: `${table}.${column}`, faults: [`there is no blob ${digest}`] }
      if (rows.length < DIGESTS_A_PAGE) break
      last = rows.at(-1)!.digest
    }
}

/** Blobs that no row references, and incomplete uploads. No upload takes a day. */
export async function* checkLeftovers(app: App, { repair = false }: CheckOptions = {}): AsyncGenerator<Finding> {
  const before = new Date(Date.now() - DAY)
  const found = (path: string, leftover: string): Finding =>
    repair ? { path, faults: [], repairs: ['removed'] } : { path, faults: [], leftovers: [leftover] }
  const going = new Set((await payloadsOf<{ digest: string }>(app, discardBlob.name)).map(({ digest }) => digest))
  for await (const digest of findUnnamed(app, before)) {
    if (going.has(digest)) continue
    if (repair) await app.blobs.remove(digest)
    yield found(`blob ${digest}`, 'no row names it')
  }
  for await (const path of findHalfWritten(app, before)) {
    if (repair) await rm(path, { recursive: true, force: true })
    yield found(path, 'half written')
  }
}

async function payloadsOf<P>({ db }: App, name: string): Promise<P[]> {
  const jobs = await db.selectFrom('jobs').select('payload').where('name', '=', name).execute()
  return jobs.map(({ payload }) => JSON.parse(payload) as P)
}
