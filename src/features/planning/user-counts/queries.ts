import { sql } from 'kysely'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { openVisibilities } from '../../access/authorizations/queries.ts'
import type { ItemKey, ItemRole } from '../items/kind.ts'
import { itemKind } from '../items/registry.ts'
import { isReadable } from '../seeing.ts'

/** The number of open items, visible to the user, that are assigned to them or await their review. */
export async function countItems(db: Db, viewer: User, key: ItemKey, role: ItemRole): Promise<number> {
  const { alias, table, column, people, sees, statesIn } = itemKind(key)
  const tables: { readonly [role in ItemRole]?: string } = people
  const from = { internalToo: openVisibilities(viewer).includes('internal') }
  const isSeen = viewer.admin ? sql`true` : sql`${isReadable(from)} and ${sees(viewer.id, from)}`
  const item = sql.ref(alias)
  const { rows } = await sql<{ total: number }>`select count(*) as total from ${sql.table(tables[role]!)} mine
    join ${sql.table(table)} ${item} on ${item}.id = ${sql.ref(`mine.${column}`)}
    join projects p on p.id = ${item}.project_id
    left join project_authorizations t on t.project_id = p.id and t.user_id = ${viewer.id}
    where mine.user_id = ${viewer.id} and ${item}.state in (${sql.join(statesIn('opened').map((one) => sql.lit(one)))})
    and not p.deleting and not p.archived and ${isSeen}`.execute(db)
  return Number(rows[0]!.total)
}
