/** The requests of the bench. */
import type { Call } from './load.ts'
import { CROWDED, RARE_AUTHOR, RARE_LABEL } from './seed-issues.ts'
import { ADMINISTRATOR, EVERYBODY, HOLDERS, MEMBER, RARE, daysAgo, usernameOf } from './seed.ts'

const asMember = (path: string): Call => ({ path: `/api/v4${path}`, token: MEMBER })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })

const TOKENS = [ADMINISTRATOR, MEMBER, ...HOLDERS.values()]

/** Every path with every token; the next call has another of both. */
const rotating = (paths: readonly string[]): readonly Call[] =>
  TOKENS.flatMap((_, round) =>
    paths.map((path, i) => ({ path: `/api/v4${path}`, token: TOKENS[(i * 7 + round) % TOKENS.length]! })),
  )

const pages = (path: string) => Array.from({ length: 10 }, (_, i) => `${path}?page=${i + 1}`)

/** Open to everybody whose token this is. */
export const PROJECTS = Array.from({ length: 284 }, (_, i) => i + 1).filter((id) => id % 10 < 7)
export const USERS = Array.from({ length: 100 }, (_, i) => i + 1)

export const rotatingProject = rotating(PROJECTS.map((id) => `/projects/${id}`))
export const rotatingUser = rotating(USERS.map((id) => `/users/${id}`))
export const rotatingOwn = rotating(['/user'])
export const rotatingProjects = rotating(pages('/projects'))
export const rotatingUsers = rotating(pages('/users'))

const describe = (id: number, i: number): Call => ({
  ...asAdministrator(`/projects/${id}`),
  method: 'PUT',
  body: `description=Engine+${i}`,
})

export const smallWrites: readonly Call[] = PROJECTS.map(describe)
export const smallUserWrites: readonly Call[] = USERS.map((id, i) => ({
  ...asAdministrator(`/users/${id}`),
  method: 'PUT',
  body: `bio=Engineer+${i}`,
}))

/** 50 of 500 requests change something; the others read one of 200 projects or 100 users, or a list. */
export const readsAndWrites: readonly Call[] = rotatingProject.flatMap((call, i) => {
  const reads = [call, rotatingUser[i % rotatingUser.length]!, rotatingProjects[i % rotatingProjects.length]!]
  return i % 3 === 0 ? [...reads, describe(PROJECTS[(i / 3) % PROJECTS.length]!, i)] : reads
})

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

export const projectsAsMember = asMember('/projects')
export const projectsAsAdministrator = asAdministrator('/projects')
export const oneProject = asMember('/projects/1')
export const largestPageOfProjects = asMember('/projects?per_page=100')

const ofProjects = (query: string) => asMember(`/projects?${query}`)

/** Every filter and order of the list of projects, asked by someone with a few memberships; `page=5` by everybody. */
export const growingProjects: readonly [string, Call][] = [
  ['list', projectsAsMember],
  ['list, as administrator', projectsAsAdministrator],
  ['list, as a visitor', { path: '/api/v4/projects' }],
  ['page=5', ofProjects('page=5')],
  ['simple=true', ofProjects('simple=true')],
  ['statistics=true', ofProjects('statistics=true')],
  ...['id', 'name', 'path', 'created_at', 'updated_at', 'last_activity_at'].map((order): [string, Call] => [
    `order_by=${order}`,
    ofProjects(`order_by=${order}&sort=asc`),
  ]),
  ['archived=true', ofProjects('archived=true')],
  ['visibility=public', ofProjects('visibility=public')],
  ['visibility=private', ofProjects('visibility=private')],
  ['owned=true', ofProjects('owned=true')],
  ['membership=true', ofProjects('membership=true')],
  ['membership=true&order_by=name', ofProjects('membership=true&order_by=name')],
  ['min_access_level=30', ofProjects('min_access_level=30')],
  ['starred=true', ofProjects('starred=true')],
  ['with_issues_enabled=true', ofProjects('with_issues_enabled=true')],
  ['with_merge_requests_enabled=true', ofProjects('with_merge_requests_enabled=true')],
  ['topic=', ofProjects('topic=topic3')],
  ['search= that few match', ofProjects(`search=${RARE}`)],
  ['search= that all match', ofProjects(`search=${EVERYBODY}`)],
  ['pagination=keyset', ofProjects('pagination=keyset&order_by=id&id_after=500&sort=asc')],
  ['/groups/:id/projects', asMember('/groups/group1/projects')],
  ['/groups/:id/projects, with subgroups', asMember('/groups/group1/projects?include_subgroups=true')],
  ['/groups', asMember('/groups')],
  ['/groups, as administrator', asAdministrator('/groups')],
  ['/groups?all_available=true', asMember('/groups?all_available=true')],
  ['/groups?search= that all match', asMember('/groups?all_available=true&search=group')],
  ['/groups?owned=true', asMember('/groups?owned=true')],
  ['/groups/:id', asMember('/groups/group1')],
  ['/groups/:id/subgroups', asMember('/groups/group1/subgroups')],
  ['/groups/:id/members', asMember('/groups/group1/members')],
  ['/groups/:id/members/all', asMember('/groups/group1/members/all')],
  ['/projects/:id/members/all', asMember('/projects/1/members/all')],
  ['/projects/:id/users', asMember('/projects/1/users')],
]

const ofIssues = (query: string) => asMember(`/projects/${CROWDED}/issues?${query}`)

/** Every filter and order of lists of issues, for as many rows of a large project as of a small one. */
export const growingIssues: readonly [string, Call][] = [
  ['list', ofIssues('')],
  ['list, as administrator', asAdministrator(`/projects/${CROWDED}/issues`)],
  ['list, as a visitor', { path: `/api/v4/projects/${CROWDED}/issues` }],
  ['page=40', ofIssues('page=40')],
  ['state=opened', ofIssues('state=opened')],
  ['state=closed', ofIssues('state=closed')],
  ['labels= of a tenth', ofIssues('labels=label3')],
  ['labels= that few have', ofIssues(`labels=${RARE_LABEL}`)],
  ['labels=None', ofIssues('labels=None')],
  ['milestone= of a fifth', ofIssues('milestone=milestone2')],
  ['author_id= of many', ofIssues('author_id=10')],
  ['author_id= of few', ofIssues(`author_id=${RARE_AUTHOR}`)],
  ['assignee_id= of many', ofIssues('assignee_id=10')],
  ['confidential=true', asAdministrator(`/projects/${CROWDED}/issues?confidential=true`)],
  ['search= that few match', ofIssues(`search=${RARE}`)],
  ['search= that all match', ofIssues(`search=${EVERYBODY}`)],
  ['search= of two words', ofIssues(`search=${EVERYBODY}+music`)],
  ['created_after= of half', ofIssues(`created_after=${daysAgo(450)}`)],
  ['updated_before= of half', ofIssues(`updated_before=${daysAgo(450)}`)],
  ['not[labels]=', ofIssues('not[labels]=label3')],
  ...['created_at', 'updated_at', 'title', 'due_date', 'popularity', 'relative_position'].map(
    (order): [string, Call] => [`order_by=${order}`, ofIssues(`order_by=${order}&sort=asc`)],
  ),
  ['order_by=label_priority', ofIssues('order_by=label_priority&sort=asc')],
  ['order_by=milestone_due', ofIssues('order_by=milestone_due&sort=asc')],
  ['one issue', asMember(`/projects/${CROWDED}/issues/7`)],
  ['issues_statistics', asMember(`/projects/${CROWDED}/issues_statistics`)],
  ['/issues?scope=all', asMember('/issues?scope=all')],
  ['/issues?scope=all, as administrator', asAdministrator('/issues?scope=all')],
  ['/issues?scope=all&search= that few match', asMember(`/issues?scope=all&search=${RARE}`)],
  ['/groups/:id/issues', asMember('/groups/group1/issues')],
  ['/projects/:id/labels', asMember(`/projects/${CROWDED}/labels`)],
]

const change = (verb: string): Call => ({ ...asAdministrator(`/users/8/${verb}`), method: 'POST' })

/** Each alters a user that lists of users count; whatever was remembered is forgotten with it. */
export const changes = (pairs: number): Call[] =>
  Array.from({ length: pairs }, () => [change('block'), change('unblock')]).flat()
