/** Who stands in a group: memberships reach down the tree, and through a share into the tree of what is shared. */
import { sql, type RawBuilder } from 'kysely'
import { Guest } from '../../../lib/levels.ts'

interface Way {
  /** `a` leads from the group up to where the way begins, and `m` is the membership. */
  readonly from: RawBuilder<unknown>
  /** What the membership comes to in the group. */
  readonly level: RawBuilder<number>
}

const WAYS: readonly Way[] = [
  // Whoever has minimal access to a group has it to the group itself and to nothing inside.
  {
    from: sql`namespace_ancestors a join members m on m.group_id = a.ancestor_id
      and (a.depth = 0 or m.access_level >= ${sql.lit(Guest)})`,
    level: sql`m.access_level`,
  },
  // People who are there by a share are not shared on: only memberships are.
  {
    from: sql`namespace_ancestors a
      join group_shares s on s.group_id = a.ancestor_id
      join namespace_ancestors w on w.namespace_id = s.shared_with_group_id
      join members m on m.group_id = w.ancestor_id and m.access_level >= ${sql.lit(Guest)}`,
    level: sql`case when m.access_level < s.group_access then m.access_level else s.group_access end`,
  },
]

/** The rows of every way in which somebody comes to stand in the group `a.namespace_id`, one below the other. */
export const eachWayInto = <T>(select: (way: Way) => RawBuilder<T>): RawBuilder<T> =>
  sql<T>`${sql.join(WAYS.map(select), sql` union all `)}`
