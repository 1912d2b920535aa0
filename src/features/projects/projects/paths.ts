/** Paths: one space for users, groups and projects, and where renamed things were. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { lockName, locksRows } from '../../../store/dialect.ts'

/**
 * Until the transaction ends, nobody else takes this path for a group or a project; what was renamed away from it is
 * no longer looked for there.
 */
export async function lockPath(app: App, fullPath: string): Promise<void> {
  const path = fullPath.toLowerCase()
  // A project and the twin whose path is its wiki's exclude each other.
  await lockName(app.db, `path ${path.replace(/\.wiki$/, '')}`)
  await app.db
    .deleteFrom('redirects')
    .where(sql`lower(path)`, '=', path)
    .execute()
}

/** The namespace as it is now; null if it is gone or going. Nobody else adds to it until the transaction ends. */
export async function lockNamespace(app: App, id: number): Promise<Row<'namespaces'> | null> {
  const namespace = await app.db
    .selectFrom('namespaces')
    .selectAll()
    .where('id', '=', id)
    .where('deleting', '=', false)
    .$if(locksRows(app.db), (query) => query.forNoKeyUpdate())
    .executeTakeFirst()
  return namespace ?? null
}

/** Whoever follows the old path is led to where it now is. */
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
