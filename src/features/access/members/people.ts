/** How lists of people are narrowed: by a text, to some, without some. */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { SUBSTRING_FROM, foundIds, idList, inIdList, likePattern, substring } from '../../../store/dialect.ts'
import type { Given } from '../../../store/hot.ts'

export interface PeopleFilter {
  /** A part of a name, a username or an address. */
  query?: string | null | undefined
  user_ids?: readonly number[] | null | undefined
  skip_users?: readonly number[] | null | undefined
}

/** The filter as queries take it. */
export interface People {
  containing?: string
  like?: string
  likeOpenly?: string
  user_ids?: string
  skip_users?: string
}

/** Whoever may not see addresses must not find people by them. */
export function peopleOf(db: Db, { query, user_ids, skip_users }: PeopleFilter, seesAddresses = true): People {
  const wanted = query?.trim() ?? ''
  const pattern = likePattern(wanted)
  const isIndexed = seesAddresses && wanted.length >= SUBSTRING_FROM
  return {
    ...(isIndexed && { containing: substring(db, wanted) }),
    ...(wanted !== '' && seesAddresses && !isIndexed && { like: pattern }),
    ...(wanted !== '' && !seesAddresses && { likeOpenly: pattern }),
    ...(user_ids && { user_ids: idList(db, user_ids) }),
    ...(skip_users && { skip_users: idList(db, skip_users) }),
  }
}

const usersLike = (columns: readonly string[], pattern: string): RawBuilder<number> => {
  // The engine folds both sides: it and JavaScript differ on letters beyond ASCII.
  const matches = columns.map((column) => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`)
  return sql`select id from users where ${sql.join(matches, sql` or `)}`
}

/** As a condition on a column that holds ids of users. */
export function among(db: Db, column: string, people: People, given: Given<People>): RawBuilder<boolean> {
  const within = (ids: RawBuilder<number>) => sql<boolean>`${sql.ref(column)} in (${ids})`
  const open = ['name', 'username']
  const conditions = [sql<boolean>`1 = 1`]
  if (given('containing')) conditions.push(within(foundIds(db, 'users', [...open, 'email'], people.containing!)))
  if (given('like')) conditions.push(within(usersLike([...open, 'email'], people.like!)))
  if (given('likeOpenly')) conditions.push(within(usersLike(open, people.likeOpenly!)))
  if (given('user_ids')) conditions.push(inIdList(db, column, people.user_ids!))
  if (given('skip_users')) conditions.push(sql<boolean>`not ${inIdList(db, column, people.skip_users!)}`)
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
