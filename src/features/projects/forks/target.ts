/** The namespace and the visibility of a fork. */
import { sql } from 'kysely'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { VISIBILITIES, type Visibility } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { findNamespaceById, type Namespace, type Project } from '../projects/queries.ts'
import { mayPutInto, namespaceFor } from '../projects/service.ts'
import { fitted } from '../projects/visibility.ts'

/** Finds a namespace by id, or by path or name in any case. Without input: the caller's own namespace. */
export async function targetNamespace(app: App, actor: User, given: string | null): Promise<Namespace> {
  if (given === null) return namespaceFor(app, actor, actor, null)
  for (const namespace of await namespacesCalled(app.db, given)) {
    if (!namespace.deleting && (await mayPutInto(app, actor, actor, namespace))) return namespace
  }
  throw notFound('Target Namespace')
}

const MOST_NAMESAKES = 50

/**
 * A number is always an id, never a name. Several namespaces may have the same name or path segment; the likeliest
 * comes first.
 */
async function namespacesCalled(db: Db, given: string): Promise<Namespace[]> {
  if (/^\d+$/.test(given)) {
    const one = await findNamespaceById(db, Number(given))
    return one ? [one] : []
  }
  const lowered = given.toLowerCase()
  const whole = await db
    .selectFrom('namespaces')
    .selectAll()
    .where(sql`lower(full_path)`, '=', lowered)
    .executeTakeFirst()
  if (whole) return [whole]
  return db
    .selectFrom('namespaces')
    .selectAll()
    .where((eb) => eb.or([eb(sql`lower(path)`, '=', lowered), eb(sql`lower(name)`, '=', lowered)]))
    .orderBy((eb) =>
      eb
        .case()
        .when(sql`lower(path)`, '=', lowered)
        .then(0)
        .else(1)
        .end(),
    )
    .orderBy('id')
    .limit(MOST_NAMESAKES)
    .execute()
}

/** The visibility of the source, limited by the namespace and the instance. */
export async function forkVisibility(
  app: App,
  actor: User,
  source: Project,
  namespace: Namespace,
): Promise<Visibility> {
  const { restricted_visibility_levels: restricted } = await currentSettings(app)
  const widest = namespace.kind === 'group' ? fitted(source.visibility, namespace.visibility) : source.visibility
  const allowed = VISIBILITIES.slice(0, VISIBILITIES.indexOf(widest) + 1).findLast(
    (one) => actor.admin || !restricted.includes(one),
  )
  return allowed ?? 'private'
}
