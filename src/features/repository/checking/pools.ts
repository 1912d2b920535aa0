/** Compares the pools of the store with those on disk and those that repositories use. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { App } from '../../../context.ts'
import { poolOf } from '../../../git/storage/alternates.ts'
import { isLeftover } from '../../../git/storage/drafts.ts'
import { faultsOf } from '../../../git/storage/integrity.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { POOLS_FOLDER, findPool, hasMembers, type Pool } from '../../projects/forks/pools.ts'
import { PROVISIONING } from '../../projects/projects/model.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { removeRepositoryLater } from '../../projects/projects/removal.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import type { CheckOptions, Finding } from './findings.ts'
import { leftoversIn } from './leftovers.ts'

/** A member that has all objects itself is sound. It starts to use the pool with its next housekeeping. */
export async function sharingFaults(app: App, project: Project, dir: string): Promise<string[]> {
  const used = await poolOf(dir)
  if (used === null) return []
  const pool = await findPool(app, project.pool_id)
  if (pool && repositoryDir(app, pool) === used) return []
  return [`it shares the objects of ${used}, which the store does not know of`]
}

export async function* checkPools(app: App, { repair = false }: CheckOptions = {}): AsyncGenerator<Finding> {
  const pools = await app.db.selectFrom('pools').selectAll().orderBy('id').execute()
  for (const pool of pools) {
    const dir = repositoryDir(app, pool)
    const left = (await repositoryExists(dir)) ? await leftoversIn(dir, repair) : {}
    yield { path: pool.disk_path, faults: await faultsOfPool(app, pool), ...left }
  }
  yield* findOrphans(app, new Set(pools.map((pool) => repositoryDir(app, pool))))
}

async function faultsOfPool(app: App, pool: Pool): Promise<string[]> {
  const unused = (await hasMembers(app, pool.id)) ? [] : ['no project uses it']
  const dir = repositoryDir(app, pool)
  if (await repositoryExists(dir)) return [...unused, ...(await faultsOf(dir))]
  return (await isFilling(app, pool)) ? unused : [...unused, 'there is no repository']
}

/** The first fork of the pool is still being created. */
async function isFilling(app: App, { id }: Pool): Promise<boolean> {
  const fork = await app.db
    .selectFrom('projects')
    .select('id')
    .where('pool_id', '=', id)
    .where('import_status', 'in', PROVISIONING)
    .executeTakeFirst()
  return fork !== undefined
}

/** Folders that no row names. A folder whose deletion is scheduled does not count. */
async function* findOrphans(app: App, known: ReadonlySet<string>): AsyncGenerator<Finding> {
  const removals = await app.db
    .selectFrom('jobs')
    .select('payload')
    .where('name', '=', removeRepositoryLater.name)
    .execute()
  const going = new Set(removals.map(({ payload }) => (JSON.parse(payload) as { dir: string }).dir))
  for (const storage of Object.values(app.config.storages)) {
    for (const name of await readdir(join(storage, POOLS_FOLDER), { recursive: true }).catch(() => [])) {
      const dir = join(storage, POOLS_FOLDER, name)
      const isPool = name.split('/').length === 2 && !isLeftover(name)
      if (!isPool || known.has(dir) || going.has(dir)) continue
      yield { path: join(POOLS_FOLDER, name), faults: ['the store does not know of it'] }
    }
  }
}
