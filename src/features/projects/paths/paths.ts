/** Paths: users, groups and projects share one path space, and redirects remember old paths. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { lockName, locksRows } from '../../../store/dialect.ts'

/**
 * Locks the path until the transaction ends, so that no other group or project takes it. Deletes redirects from this
 * path.
 */
export async function lockPath(app: TransactionApp, fullPath: string): Promise<void> {
  const path = fullPath.toLowerCase()
  // A project named like another project's wiki conflicts with that project, so both use the same lock.
  await lockName(app.db, `path ${path.replace(/\.wiki$/, '')}`)
  await app.db
    .deleteFrom('redirects')
    .where(sql`lower(path)`, '=', path)
    .execute()
}

/**
 * The current namespace, or null if it is deleted or being deleted. Until the transaction ends, no other transaction
 * adds to it.
 */
export async function lockNamespace(app: TransactionApp, id: number): Promise<Row<'namespaces'> | null> {
  const namespace = await app.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', id)
    .where('deleting', '=', false)
    .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return namespace ?? null
}

/** Redirects the old path to the new one. */
export async function addRedirect(
  app: App,
  oldPath: string,
  to: { namespace_id: number } | { project_id: number },
): Promise<void> {
  const target = { namespace_id: null, project_id: null, ...to }
  await app.db
    .deleteFrom('redirects')
    .where(sql`lower(path)`, '=', oldPath.toLowerCase())
    .execute()
  await app.db
    .insertInto('redirects')
    .values({ path: oldPath, ...target, created_at: timestamp(app.clock) })
    .execute()
}
