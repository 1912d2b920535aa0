import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { oncePerPage } from '../../../lib/async/page-reads.ts'
import type { Row } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { isLinked } from './conditions.ts'
import type { ItemKind, ItemRole, ItemTable } from './kind.ts'

/**
 * Finds an item of a project, with the viewer's roles in the item. The caller checks whether the viewer may read the
 * item.
 */
export function viewedFinder<T extends ItemTable>(kind: ItemKind<T>) {
  const { table } = kind
  const people: { readonly [role in ItemRole]?: string } = kind.people
  const isIn = (role: ItemRole, viewer: number) =>
    people[role] === undefined ? sql.lit(false) : isLinked(kind, people[role])(viewer)
  const viewed = hotQuery(
    (_db, p: { project: number; iid: number; viewer: number }) =>
      sql<Row<T> & { assigned: boolean; reviewing: boolean }>`
        select *, ${isIn('assignees', p.viewer)} as assigned, ${isIn('reviewers', p.viewer)} as reviewing
        from ${sql.table(table)} where project_id = ${p.project} and iid = ${p.iid}`,
  )
  const read = async ({ db }: App, project: number, iid: number, viewer: number) => {
    const [found] = await viewed(db, { project, iid, viewer })
    return found ? { ...found, assigned: Boolean(found.assigned), reviewing: Boolean(found.reviewing) } : null
  }
  return (app: App, project: number, iid: number, viewer: number) =>
    oncePerPage(app, `${table} ${project} ${iid} of ${viewer}`, () => read(app, project, iid, viewer))
}
