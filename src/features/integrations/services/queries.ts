import { sql } from 'kysely'
import type { ScopeColumns } from '../../../api/resource-scopes.ts'
import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { ServiceRow } from './model.ts'

/** A service of a group applies to everything below that has none of its own. */
interface Near extends ServiceRow {
  /** 0 for the project itself, else the number of groups up. */
  readonly distance: number
}

const nearProject = hotQuery((db, p: { project: number }) => {
  const around = db
    .selectFrom('projects')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.namespace_id', 'projects.namespace_id')
    .where('projects.id', '=', p.project)
  return db
    .selectFrom('services')
    .selectAll()
    .select(
      sql<number | null>`(select a.depth from projects p join namespace_ancestors a on a.namespace_id = p.namespace_id
        where p.id = ${p.project} and a.ancestor_id = services.group_id)`.as('distance'),
    )
    .where((eb) =>
      eb.or([eb('project_id', '=', p.project), eb('group_id', 'in', around.select('namespace_ancestors.ancestor_id'))]),
    )
})

const nearGroup = hotQuery((db, p: { group: number }) =>
  db
    .selectFrom('services')
    .innerJoin('namespace_ancestors', 'namespace_ancestors.ancestor_id', 'services.group_id')
    .selectAll('services')
    .select('depth as distance')
    .where('namespace_ancestors.namespace_id', '=', p.group),
)

export interface Effective {
  readonly row: ServiceRow
  readonly isInherited: boolean
}

const near = async (db: Db, { project_id, group_id }: ScopeColumns): Promise<Near[]> => {
  const rows =
    project_id === null ? await nearGroup(db, { group: group_id! }) : await nearProject(db, { project: project_id })
  return rows.map((row) => ({ ...row, distance: row.project_id === null ? (row.distance ?? 0) : -1 }))
}

const isOwn = (row: ScopeColumns, { project_id, group_id }: ScopeColumns) =>
  row.project_id === project_id && row.group_id === group_id

/** The services that apply in a scope, by slug: its own, or the nearest group's. */
export async function effectiveServices(db: Db, scope: ScopeColumns): Promise<Map<string, Effective>> {
  const rows = (await near(db, scope)).toSorted((a, b) => a.distance - b.distance)
  const found = new Map<string, Effective>()
  for (const row of rows)
    if (!row.inherits && !found.has(row.slug)) found.set(row.slug, { row, isInherited: !isOwn(row, scope) })
  return found
}

export async function findOwnService(db: Db, scope: ScopeColumns, slug: string): Promise<ServiceRow | null> {
  const { project_id, group_id } = scope
  const row = await db
    .selectFrom('services')
    .selectAll()
    .where('slug', '=', slug)
    .where((eb) => (project_id === null ? eb('group_id', '=', group_id) : eb('project_id', '=', project_id)))
    .executeTakeFirst()
  return row ?? null
}
