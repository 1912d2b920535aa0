/** The requests of the bench. */
import type { Call } from './load.ts'
import { ADMINISTRATOR, EVERYBODY, MEMBER, RARE, daysAgo, usernameOf } from './seed.ts'

const asMember = (path: string): Call => ({ path: `/api/v4${path}`, token: MEMBER })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })

export const ownRecord = asMember('/user')
export const listAsMember = asMember('/users')
export const listAsAdministrator = asAdministrator('/users')
export const largestPage = asAdministrator('/users?per_page=100')

/** No path twice: the floor tells answers apart by their path. */
export const mixed: readonly Call[] = [
  ownRecord,
  listAsMember,
  asMember('/users/5'),
  asMember(`/users?username=${usernameOf(9)}`),
  asMember('/users?page=2'),
  asMember(`/users?search=${RARE}`),
  largestPage,
  asAdministrator('/users?active=true'),
  asAdministrator('/users?page=40'),
  asAdministrator('/users/7'),
]

/** Each asks for as many rows of a large table as of a small one. */
export const growing: readonly [string, Call][] = [
  ['list', listAsAdministrator],
  ['list, as a member', listAsMember],
  ['page=40', asAdministrator('/users?page=40')],
  ['search= that few match', asAdministrator(`/users?search=${RARE}`)],
  ['search= that all match', asAdministrator(`/users?search=${EVERYBODY}`)],
  ['username=', asAdministrator(`/users?username=${usernameOf(500)}`)],
  ['active=true', asAdministrator('/users?active=true')],
  ['blocked=true', asAdministrator('/users?blocked=true')],
  ['external=true', asAdministrator('/users?external=true')],
  ['created_after= of half', asAdministrator(`/users?created_after=${daysAgo(500)}`)],
  ['created_before= of half', asAdministrator(`/users?created_before=${daysAgo(500)}`)],
  ['/namespaces', asAdministrator('/namespaces')],
  ['/user/activities', asAdministrator('/user/activities')],
]

const change = (verb: string): Call => ({ ...asAdministrator(`/users/8/${verb}`), method: 'POST' })

/** Each alters a user that lists count. */
export const changes = (pairs: number): Call[] =>
  Array.from({ length: pairs }, () => [change('block'), change('unblock')]).flat()
