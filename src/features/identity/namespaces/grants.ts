/**
 * Ways to be a member of a group: memberships are inherited by subgroups, and a share gives access to the shared group
 * and its subgroups.
 */
import { sql, type RawBuilder } from 'kysely'
import { Guest } from '../../../lib/levels.ts'

interface Way {
  /** SQL: `a` leads from the group up to the ancestor where access is granted, and `m` is the membership. */
  readonly from: RawBuilder<unknown>
  /** The level that the membership gives in the group. */
  readonly level: RawBuilder<number>
}

const WAYS: readonly Way[] = [
  // Minimal access to a group covers the group itself and nothing inside it.
  {
    from: sql`namespace_ancestors a join members m on m.group_id = a.ancestor_id
      and (a.depth = 0 or m.access_level >= ${sql.lit(Guest)})`,
    level: sql`m.access_level`,
  },
  // Only direct memberships are passed on by a share: access that came from another share is not.
  {
    from: sql`namespace_ancestors a
      join group_shares s on s.group_id = a.ancestor_id
      join namespace_ancestors w on w.namespace_id = s.shared_with_group_id
      join members m on m.group_id = w.ancestor_id and m.access_level >= ${sql.lit(Guest)}`,
    level: sql`case when m.access_level < s.group_access then m.access_level else s.group_access end`,
  },
]

/** The rows of all ways to get access to the group `a.namespace_id`, combined by `union all`. */
export const eachWayInto = <T>(select: (way: Way) => RawBuilder<T>): RawBuilder<T> =>
  sql<T>`${sql.join(WAYS.map(select), sql` union all `)}`
