/** Items of users who leave. */
import { sql } from 'kysely'
import { on, type TransactionApp } from '../../../context.ts'
import type { ItemKind } from './kind.ts'

/** Unassigns former members from open items in projects they no longer have access to. Others stay unchanged. */
export const unassignFormerMembers = ({ noun, table, column, people }: ItemKind) =>
  on('member.removed', `${noun}s`, async ({ db }, { user_id, project_id, group_id }) => {
    const isLeft =
      project_id === null
        ? sql<boolean>`i.project_id in (select p.id from projects p
          join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group_id})`
        : sql<boolean>`i.project_id = ${project_id}`
    const by = sql.ref(column)
    for (const links of Object.values(people)) {
      await sql`delete from ${sql.table(links)} where user_id = ${user_id} and ${by} in (
        select i.id from ${sql.table(links)} x join ${sql.table(table)} i on i.id = x.${by}
        where x.user_id = ${user_id} and ${isLeft} and i.state in ('opened', 'locked')
        and not exists (select 1 from project_authorizations t
          where t.user_id = ${user_id} and t.project_id = i.project_id))`.execute(db)
    }
  })

/** The successor takes over the items of a removed user. Without a successor, authored items are deleted. */
export async function releaseItems(
  { db }: TransactionApp,
  { table }: ItemKind,
  user: number,
  successor: number | null,
  columns: readonly string[] = ['author_id', 'closed_by_id'],
): Promise<void> {
  if (successor === null) {
    await sql`delete from ${sql.table(table)} where author_id = ${user}`.execute(db)
    return
  }
  for (const column of columns) {
    const by = sql.ref(column)
    await sql`update ${sql.table(table)} set ${by} = ${successor} where ${by} = ${user}`.execute(db)
  }
}
