import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'

const usersById = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('users')
    .selectAll()
    .where(inIdList(db, 'id', p.ids)),
)

export type Authored<R> = R & { readonly author: User | null }

/** Rows with those who wrote them, by one query for all. */
export async function withAuthors<R extends { author_id: number | null }>(
  db: Db,
  rows: readonly R[],
): Promise<Authored<R>[]> {
  const ids = new Set(rows.map(({ author_id }) => author_id).filter((id) => id !== null))
  const users = ids.size === 0 ? [] : await usersById(db, { ids: idList(db, [...ids]) })
  const byId = new Map(users.map((user) => [user.id, user]))
  return rows.map((row) => ({ ...row, author: byId.get(row.author_id ?? 0) ?? null }))
}
