/**
 * Decides which projects share objects. Every member can read each object of a pool by its id, for as long as the pool
 * exists. So a pool takes only objects that everybody may read: the branches and tags of its one source, while the
 * source is public and its code is open to everyone. An internal source does not qualify, because an external user may
 * be a member of a fork without access to the source. Forks add nothing, and a source that was restricted once never
 * fills its pool again.
 *
 * Using a pool reveals nothing: a new member sees objects that were public. All other objects of a fork stay in the
 * fork.
 */
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { fillPool } from '../../../git/storage/pools.ts'
import { createRepository } from '../../../git/storage/repositories.ts'
import { NoAccess } from '../../../lib/levels.ts'
import { randomHex } from '../../../lib/crypto/secrets.ts'
import type { Row } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { hasFeature } from '../projects/policy.ts'
import { lockProject, type Project } from '../projects/queries.ts'
import { repositoryDir } from '../repositories/repository.ts'

export type Pool = Row<'pools'>

/** Next to the repositories, in the same storage and at the same depth, so that code can walk both the same way. */
export const POOLS_FOLDER = '@pools'

const newPoolPath = (): string => {
  const name = randomHex(20)
  return `${POOLS_FOLDER}/${name.slice(0, 2)}/${name}.git`
}

const isOpenToAll = (project: Project) =>
  project.visibility === 'public' && hasFeature({ project, level: NoAccess }, 'repository')

export async function findPool(app: App, id: number | null): Promise<Pool | null> {
  if (id === null) return null
  return (await app.db.selectFrom('pools').selectAll().where('id', '=', id).executeTakeFirst()) ?? null
}

/**
 * Adds the fork to the pool of its source. Creates the pool if the source qualifies. Null if the fork must copy all
 * objects.
 */
export async function enterPool(app: App, fork: Project, sourceId: number): Promise<Pool | null> {
  return transact(app, async (app) => {
    const locked = await lockProject(app, fork.id)
    const source = await lockProject(app, sourceId)
    if (!locked || !source || locked.repository_storage !== source.repository_storage) return null
    const pool = source.pool_id === null ? await openPool(app, source) : await lockPool(app, source.pool_id)
    if (pool) await setPool(app, fork.id, pool.id)
    return pool
  })
}

async function openPool(app: App, source: Project): Promise<Pool | null> {
  if (!isOpenToAll(source)) return null
  const pool = await app.db
    .insertInto('pools')
    .values({
      disk_path: newPoolPath(),
      repository_storage: source.repository_storage,
      source_id: source.id,
      created_at: timestamp(app.clock),
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await setPool(app, source.id, pool.id)
  return pool
}

const setPool = (app: App, projectId: number, pool_id: number | null) =>
  app.db.updateTable('projects').set({ pool_id }).where('id', '=', projectId).execute()

/** Until the transaction ends, no other transaction adds or removes members. */
async function lockPool(app: TransactionApp, id: number): Promise<Pool> {
  return app.db
    .selectFrom('pools')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(app.db), (query) => query.forUpdate())
    .executeTakeFirstOrThrow()
}

/** Fills the pool with all permitted objects and returns its folder. */
export async function freshPool(app: App, pool: Pool, signal: AbortSignal): Promise<string> {
  const dir = repositoryDir(app, pool)
  // The folder must exist even if the source was restricted or deleted before it filled the pool.
  await createRepository(dir, { defaultBranch: 'master' })
  const source = await openSourceOf(app, pool)
  // Checked again once the tips are known, so that commits pushed after a restriction stay out.
  const mayTake = async () => (await openSourceOf(app, pool)) !== null
  if (source) await fillPool(dir, repositoryDir(app, source), { mayTake, signal })
  return dir
}

async function openSourceOf(app: App, { id }: Pool): Promise<Project | null> {
  const source = await app.db
    .selectFrom('pools')
    .innerJoin('projects', 'projects.id', 'pools.source_id')
    .selectAll('projects')
    .where('pools.id', '=', id)
    .where('projects.deleting', '=', false)
    .executeTakeFirst()
  return source && isOpenToAll(source) ? source : null
}

export async function closePoolsOf(app: TransactionApp, sources: readonly number[]): Promise<void> {
  await app.db.updateTable('pools').set({ source_id: null }).where('source_id', 'in', sources).execute()
}

/** Called after a project has left the pool. Returns the folder of an unused pool, or null. */
export async function forsakePool(app: TransactionApp, id: number): Promise<string | null> {
  const pool = await lockPool(app, id)
  if (await hasMembers(app, id)) return null
  await app.db.deleteFrom('pools').where('id', '=', id).execute()
  return repositoryDir(app, pool)
}

/**
 * The last member shares with no other project. It has a copy of all objects, and the pool is deleted unless a new
 * member has joined.
 */
export async function removeIfLast(app: TransactionApp, project: Project, pool: Pool): Promise<string | null> {
  const locked = await lockProject(app, project.id)
  if (locked?.pool_id !== pool.id || (await hasMembers(app, pool.id, project))) return null
  await setPool(app, project.id, null)
  return forsakePool(app, pool.id)
}

export async function hasMembers(app: App, id: number, except?: Project): Promise<boolean> {
  const member = await app.db
    .selectFrom('projects')
    .select('id')
    .where('pool_id', '=', id)
    .$if(except !== undefined, (query) => query.where('id', '!=', except!.id))
    .limit(1)
    .executeTakeFirst()
  return member !== undefined
}
