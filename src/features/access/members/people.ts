/** Filters for lists of users: by text, by included ids, by excluded ids. */
import { sql, type RawBuilder } from 'kysely'
import type { User } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { SUBSTRING_FROM, matchingIds, idList, inIdList, likePattern, substring } from '../../../store/dialect.ts'
import type { IsGiven } from '../../../store/hot.ts'
import { OPEN_NAMES } from '../../identity/users/queries.ts'

export interface PeopleFilter {
  /** Part of a name or username, or an email address. */
  query?: string | null | undefined
  user_ids?: readonly number[] | null | undefined
  skip_users?: readonly number[] | null | undefined
}

/** The filter in the form that queries take. */
export interface People {
  containing?: string
  containingOpenly?: string
  like?: string
  likeOpenly?: string
  /** Matches by address, in addition to matches by name. */
  address?: string
  user_ids?: string
  skip_users?: string
}

/**
 * How a search matches email addresses. Matching by parts would let a user find out a hidden address letter by letter.
 */
export type Addresses = 'parts' | 'whole' | 'none'

export const addressesFor = (viewer: User | null): Addresses =>
  viewer === null ? 'none' : viewer.admin ? 'parts' : 'whole'

export function peopleOf(db: Db, { query, user_ids, skip_users }: PeopleFilter, addresses: Addresses): People {
  const term = query?.trim() ?? ''
  return {
    ...(term !== '' && namesOf(db, term, addresses)),
    ...(term !== '' && addresses === 'whole' && { address: term.toLowerCase() }),
    ...(user_ids && { user_ids: idList(db, user_ids) }),
    ...(skip_users && { skip_users: idList(db, skip_users) }),
  }
}

function namesOf(db: Db, term: string, addresses: Addresses): People {
  const isIndexed = Array.from(term).length >= SUBSTRING_FROM
  if (addresses === 'parts') return isIndexed ? { containing: substring(db, term) } : { like: likePattern(term) }
  return isIndexed ? { containingOpenly: substring(db, term, OPEN_NAMES) } : { likeOpenly: likePattern(term) }
}

const usersLike = (columns: readonly string[], pattern: string): RawBuilder<number> => {
  // The database folds the case of both sides: databases and JavaScript differ on letters outside ASCII.
  const matches = columns.map((column) => sql`lower(${sql.ref(column)}) like lower(${pattern}) escape '\\'`)
  return sql`select id from users where ${sql.join(matches, sql` or `)}`
}

const ALL_NAMES = [...OPEN_NAMES, 'email']

/** Ids of the users who match the text; undefined if there is no text. */
function namedBy(db: Db, people: People, given: IsGiven<People>): RawBuilder<number> | undefined {
  if (given('containing')) return matchingIds(db, 'users', ALL_NAMES, people.containing!)
  if (given('like')) return usersLike(ALL_NAMES, people.like!)
  if (given('containingOpenly')) return matchingIds(db, 'users', OPEN_NAMES, people.containingOpenly!)
  return given('likeOpenly') ? usersLike(OPEN_NAMES, people.likeOpenly!) : undefined
}

/** A condition on a column that contains user ids. */
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
