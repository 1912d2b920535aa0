/**
 * Which projects share objects. Whatever is in a pool can be read by its id in every member, for as long as there is
 * one; so a pool takes only what everybody can read anyway: the branches and tags of its one source, while that project
 * is public and its code is for everyone. Internal is not enough (an external user may be a member of a fork and not
 * see its source), forks add nothing, and a source that was closed once never fills its pool again.
 *
 * To use a pool reveals nothing: whoever joins sees what was public. What a fork has beside that is its own.
 */
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { fillPool } from '../../../git/storage/pools.ts'
import { createRepository } from '../../../git/storage/repositories.ts'
import { NoAccess } from '../../../lib/levels.ts'
import { randomHex } from '../../../lib/secrets.ts'
import type { Row } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { hasFeature } from '../projects/policy.ts'
import { lockProject, type Project } from '../projects/queries.ts'
import { repositoryDir } from '../projects/repository.ts'

export type Pool = Row<'pools'>

/** Beside the repositories, in the same storage; as deep as they are, for whoever walks through it. */
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
 * The pool of the source, which is its fork's from now on; made where there is none, and the source may have one. Null
 * for a fork that must have everything itself.
 */
export async function enterPool(app: App, fork: Project, sourceId: number): Promise<Pool | null> {
  return transact(app, async (app) => {
    const held = await lockProject(app, fork.id)
    const source = await lockProject(app, sourceId)
    if (!held || !source || held.repository_storage !== source.repository_storage) return null
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

/** Nobody else comes or goes until the transaction ends. */
async function lockPool(app: App, id: number): Promise<Pool> {
  return app.db
    .selectFrom('pools')
    .selectAll()
    .where('id', '=', id)
    .$if(locksRows(app.db), (query) => query.forUpdate())
    .executeTakeFirstOrThrow()
}

/** Where the pool lies, with all in it that may be. */
export async function freshPool(app: App, pool: Pool, signal: AbortSignal): Promise<string> {
  const dir = repositoryDir(app, pool)
  // Closed, or gone, before it was ever filled, it is there all the same.
  await createRepository(dir, { defaultBranch: 'master' })
  const source = await openSourceOf(app, pool)
  // Asked again when the tips are known: what comes in after the source was closed is not among them.
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

/** In the transaction that makes them less open. */
export async function closePoolsOf(app: App, sources: readonly number[]): Promise<void> {
  await app.db.updateTable('pools').set({ source_id: null }).where('source_id', 'in', sources).execute()
}

/** For a project that is no member any more: where the pool lies that nobody needs now, or null. */
export async function forsakePool(app: App, id: number): Promise<string | null> {
  const pool = await lockPool(app, id)
  if (await hasMembers(app, id)) return null
  await app.db.deleteFrom('pools').where('id', '=', id).execute()
  return repositoryDir(app, pool)
}

/** The last member has no one to share with. It has all objects at home, and the pool goes unless somebody has come. */
export async function removeIfLast(app: App, project: Project, pool: Pool): Promise<string | null> {
  return transact(app, async (app) => {
    const held = await lockProject(app, project.id)
    if (held?.pool_id !== pool.id || (await hasMembers(app, pool.id, project))) return null
    await setPool(app, project.id, null)
    return forsakePool(app, pool.id)
  })
}

export async function hasMembers(app: App, id: number, beside?: Project): Promise<boolean> {
  const member = await app.db
    .selectFrom('projects')
    .select('id')
    .where('pool_id', '=', id)
    .$if(beside !== undefined, (query) => query.where('id', '!=', beside!.id))
    .limit(1)
    .executeTakeFirst()
  return member !== undefined
}
