/** How lists of people are narrowed: by a text, to some, without some. */
import { sql, type RawBuilder } from 'kysely'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { SUBSTRING_FROM, matchingIds, idList, inIdList, likePattern, substring } from '../../../store/dialect.ts'
import type { IsGiven } from '../../../store/hot.ts'
import { OPEN_NAMES } from '../../identity/users/queries.ts'

export interface PeopleFilter {
  /** A part of a name or a username, or an address. */
  query?: string | null | undefined
  user_ids?: readonly number[] | null | undefined
  skip_users?: readonly number[] | null | undefined
}

/** The filter as queries take it. */
export interface People {
  containing?: string
  containingOpenly?: string
  like?: string
  likeOpenly?: string
  /** Besides those found by their names. */
  address?: string
  user_ids?: string
  skip_users?: string
}

/** By which addresses people are found: by parts a hidden one could be found out, letter by letter. */
export type Addresses = 'parts' | 'whole' | 'none'

export const addressesFor = (viewer: User | null): Addresses =>
  viewer === null ? 'none' : viewer.admin ? 'parts' : 'whole'

export function peopleOf(db: Db, { query, user_ids, skip_users }: PeopleFilter, addresses: Addresses): People {
  const wanted = query?.trim() ?? ''
  return {
    ...(wanted !== '' && namesOf(db, wanted, addresses)),
    ...(wanted !== '' && addresses === 'whole' && { address: wanted.toLowerCase() }),
    ...(user_ids && { user_ids: idList(db, user_ids) }),
    ...(skip_users && { skip_users: idList(db, skip_users) }),
  }
}

function namesOf(db: Db, wanted: string, addresses: Addresses): People {
  const isIndexed = Array.from(wanted).length >= SUBSTRING_FROM
  if (addresses === 'parts') return isIndexed ? { containing: substring(db, wanted) } : { like: likePattern(wanted) }
  return isIndexed ? { containingOpenly: substring(db, wanted, OPEN_NAMES) } : { likeOpenly: likePattern(wanted) }
}

const usersLike = (columns: readonly string[], pattern: string): RawBuilder<number> => {
  // The engine folds both sides: it and JavaScript differ on letters beyond ASCII.
  const matches = columns.map((column) => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`)
  return sql`select id from users where ${sql.join(matches, sql` or `)}`
}

const ALL_NAMES = [...OPEN_NAMES, 'email']

/** Ids of those whom the text names; undefined where there is none. */
function namedBy(db: Db, people: People, given: IsGiven<People>): RawBuilder<number> | undefined {
  if (given('containing')) return matchingIds(db, 'users', ALL_NAMES, people.containing!)
  if (given('like')) return usersLike(ALL_NAMES, people.like!)
  if (given('containingOpenly')) return matchingIds(db, 'users', OPEN_NAMES, people.containingOpenly!)
  return given('likeOpenly') ? usersLike(OPEN_NAMES, people.likeOpenly!) : undefined
}

/** As a condition on a column that holds ids of users. */
export function among(db: Db, column: string, people: People, given: IsGiven<People>): RawBuilder<boolean> {
  const conditions = [sql<boolean>`1 = 1`]
  const named = namedBy(db, people, given)
  if (named) {
    const byAddress = given('address') ? sql` union all select id from users where email = ${people.address!}` : sql``
    conditions.push(sql<boolean>`${sql.ref(column)} in (${named}${byAddress})`)
  }
  if (given('user_ids')) conditions.push(inIdList(db, column, people.user_ids!))
  if (given('skip_users')) conditions.push(sql<boolean>`not ${inIdList(db, column, people.skip_users!)}`)
  return sql<boolean>`(${sql.join(conditions, sql` and `)})`
}
