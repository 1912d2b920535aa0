/** Items of users who leave. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import { on, type TransactionApp } from '../../../context.ts'
import { transact } from '../../../store/transact.ts'
import { lockMembers } from '../../access/members/service.ts'
import type { ItemKind, ItemRole } from './kind.ts'

/** Unassigns former members from open items in projects they no longer have access to. Others stay unchanged. */
export const unassignFormerMembers = ({ noun, table, column, people }: ItemKind) =>
  on('member.removed', `${noun}s`, (app, { user_id, project_id, group_id, removal }) =>
    transact(app, async (app) => {
      // The removal may be undone meanwhile.
      await lockMembers(app, { project_id, group_id })
      const { db } = app
      const isLeft =
        project_id === null
          ? sql<boolean>`i.project_id in (select p.id from projects p
          join namespace_ancestors a on a.namespace_id = p.namespace_id where a.ancestor_id = ${group_id})`
          : sql<boolean>`i.project_id = ${project_id}`
      const by = sql.ref(column)
      for (const links of Object.values(people)) {
        const items = sql`select i.id from ${sql.table(links)} x join ${sql.table(table)} i on i.id = x.${by}
        where x.user_id = ${user_id} and ${isLeft} and i.state in ('opened', 'locked')
        and not exists (select 1 from project_authorizations t
          where t.user_id = ${user_id} and t.project_id = i.project_id)`
        // After a long stop of the server, nobody can undo the removal any more.
        if (removal !== undefined) {
          await sql`insert into removed_assignments (removal_id, links, item_id)
          select ${removal}, ${links}, kept.id from (${items}) kept
          where exists (select 1 from removed_members where id = ${removal}) on conflict do nothing`.execute(db)
        }
        await sql`delete from ${sql.table(links)} where user_id = ${user_id} and ${by} in (${items})`.execute(db)
      }
    }),
  )

/** Assigns the open items again that the removal of a member unassigned, in projects that the user has access to. */
export const reassignRestoredMembers = ({ noun, table, column, people }: ItemKind) =>
  on('member.restored', `${noun}s`, (app, { removal, user_id }) =>
    transact(app, async ({ db, clock }) => {
      for (const [role, links] of Object.entries(people)) {
        const isReview = (role as ItemRole) === 'reviewers'
        await sql`insert into ${sql.table(links)} (${sql.ref(column)}, user_id${isReview ? sql`, created_at` : sql``})
        select i.id, ${user_id}${isReview ? sql`, ${timestamp(clock)}` : sql``}
        from removed_assignments a join ${sql.table(table)} i on i.id = a.item_id
        where a.removal_id = ${removal} and a.links = ${links} and i.state in ('opened', 'locked')
        and exists (select 1 from project_authorizations t
          where t.user_id = ${user_id} and t.project_id = i.project_id)
        on conflict do nothing`.execute(db)
        await db
          .deleteFrom('removed_assignments')
          .where('removal_id', '=', removal)
          .where('links', '=', links)
          .execute()
      }
    }),
  )

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
