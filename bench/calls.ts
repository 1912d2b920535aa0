/** The requests of the bench. */
import type { Call } from './load.ts'
import { CROWDED, RARE_AUTHOR, RARE_EMOJI, RARE_LABEL } from './seed-issues.ts'
import { ADMINISTRATOR, HOLDERS, MEMBER, usernameOf } from './seed.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const asMember = (path: string): Call => ({ path: `/api/v4${path}`, token: MEMBER })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })

const TOKENS = [ADMINISTRATOR, MEMBER, ...HOLDERS.values()]

/** Every path with every token; the next call has another path and another token. */
const rotating = (paths: readonly string[]): readonly Call[] =>
  TOKENS.flatMap((_, round) =>
    paths.map((path, i) => ({ path: `/api/v4${path}`, token: TOKENS[(i * 7 + round) % TOKENS.length]! })),
  )

const pages = (path: string) => Array.from({ length: 10 }, (_, i) => `${path}?page=${i + 1}`)

/** Visible to every user of these tokens. */
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

/** More than any run sends: no two create a project of the same path. */
const MOST_WRITES = 5000
const written = (method: 'POST' | 'PUT', path: string, bodyOf: (n: number) => string): readonly Call[] =>
  Array.from({ length: MOST_WRITES }, (_, n) => ({ ...asAdministrator(path), method, body: bodyOf(n) }))
const TEXT = 'It+does+not+work.%0A%0AOpen+the+page,+press+the+button,+and+look+at+the+**result**.'

/** Writes with reactions: events, to-do items, references, notifications. */
export const writesWithReactions: readonly [string, readonly Call[]][] = [
  ['create an issue', written('POST', `/projects/${CROWDED}/issues`, (n) => `title=Broken+${n}&description=${TEXT}`)],
  ['comment on an issue', written('POST', `/projects/${CROWDED}/issues/3/notes`, (n) => `body=Looks+good+to+me+${n}`)],
  ['edit an issue', written('PUT', `/projects/${CROWDED}/issues/4`, (n) => `title=Other+${n}`)],
  ['create a project', written('POST', '/projects', (n) => `path=created${n}`)],
]

/** 50 of 500 requests change something; the others read one of 200 projects or 100 users, or a list. */
export const readsAndWrites: readonly Call[] = rotatingProject.flatMap((call, i) => {
  const reads = [call, rotatingUser[i % rotatingUser.length]!, rotatingProjects[i % rotatingProjects.length]!]
  return i % 3 === 0 ? [...reads, describe(PROJECTS[(i / 3) % PROJECTS.length]!, i)] : reads
})

export const ownRecord = asMember('/user')
export const listAsMember = asMember('/users')
export const listAsAdministrator = asAdministrator('/users')
export const largestPage = asAdministrator('/users?per_page=100')

/** No path occurs twice: the floor identifies answers by their path. */
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

export const namesOfProjects = asAdministrator('/projects?per_page=100&simple=true')

/** Pages that need no repository. */
export const pagesOf = (projects: readonly string[]): readonly Call[] =>
  ['/explore', ...projects.flatMap((path) => PAGES.map((page) => `/${path}/-/${page}`))].map((path) => ({
    path,
    token: ADMINISTRATOR,
  }))

const PAGES = ['issues', 'labels', 'milestones', 'project_members']

/** Each requests as many rows of a large table as of a small one. */
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

/** Every filter and order of the list of projects, for a user with a few memberships; `page=5` for everybody. */
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

const ISSUE_ORDERS = [
  'created_at',
  'updated_at',
  'title',
  'due_date',
  'popularity',
  'weight',
  'relative_position',
  'milestone_due',
  'label_priority',
  'priority',
]

/** Filters by the names of their result rows. */
const ISSUE_FILTERS = {
  'page=40': 'page=40',
  'state=opened': 'state=opened',
  'state=closed': 'state=closed',
  'labels= of a tenth': 'labels=label3',
  'labels= of two': 'labels=label3,label4',
  'labels= that few have': `labels=${RARE_LABEL}`,
  'labels=None': 'labels=None',
  'labels=Any': 'labels=Any',
  'with_labels_details=true': 'with_labels_details=true',
  'milestone= of a fifth': 'milestone=milestone2',
  'milestone=Any': 'milestone=Any',
  'milestone=None': 'milestone=None',
  'milestone=#started': 'milestone=%23started',
  'author_id= of many': 'author_id=10',
  'author_id= of few': `author_id=${RARE_AUTHOR}`,
  'author_username=': `author_username=${usernameOf(RARE_AUTHOR)}`,
  'assignee_id= of many': 'assignee_id=10',
  'assignee_id=None': 'assignee_id=None',
  'assignee_id=Any': 'assignee_id=Any',
  'scope=assigned_to_me': 'scope=assigned_to_me',
  'my_reaction_emoji=': `my_reaction_emoji=${RARE_EMOJI}`,
  'my_reaction_emoji=None': 'my_reaction_emoji=None',
  'iids[]=': 'iids[]=7&iids[]=70',
  'search= that few match': `search=${RARE}`,
  'search= that all match': `search=${EVERYBODY}`,
  'search= of two words': `search=${EVERYBODY}+music`,
  'search= in the title': `search=${RARE}&in=title`,
  'created_after= of half': `created_after=${daysAgo(450)}`,
  'created_before= of half': `created_before=${daysAgo(450)}`,
  'updated_after= of half': `updated_after=${daysAgo(450)}`,
  'updated_before= of half': `updated_before=${daysAgo(450)}`,
  'due_date=overdue': 'due_date=overdue',
  'due_date=0': 'due_date=0',
  'weight=3': 'weight=3',
  'weight=None': 'weight=None',
  'issue_type=issue': 'issue_type=issue',
  'closed_by_id=': 'closed_by_id=4',
  'not[labels]=': 'not[labels]=label3',
  'not[milestone]=': 'not[milestone]=milestone2',
  'not[author_id]=': 'not[author_id]=10',
  'not[assignee_id]=': 'not[assignee_id]=10',
  'not[iids]=': 'not[iids][]=7',
  'not[my_reaction_emoji]=': `not[my_reaction_emoji]=${RARE_EMOJI}`,
}

/** Every filter and order of lists of issues, for as many rows of a large project as of a small one. */
export const growingIssues: readonly [string, Call][] = [
  ['list', ofIssues('')],
  ['list, as administrator', asAdministrator(`/projects/${CROWDED}/issues`)],
  ['list, as a visitor', { path: `/api/v4/projects/${CROWDED}/issues` }],
  ['confidential=true', asAdministrator(`/projects/${CROWDED}/issues?confidential=true`)],
  ...Object.entries(ISSUE_FILTERS).map(([name, query]): [string, Call] => [name, ofIssues(query)]),
  ...ISSUE_ORDERS.flatMap((order): [string, Call][] => [
    [`order_by=${order}`, ofIssues(`order_by=${order}&sort=asc`)],
    [`/issues?scope=all&order_by=${order}`, asAdministrator(`/issues?scope=all&order_by=${order}`)],
    [`/groups/:id/issues?order_by=${order}`, asMember(`/groups/group1/issues?order_by=${order}`)],
  ]),
  ['one issue', asMember(`/projects/${CROWDED}/issues/7`)],
  ['issues_statistics', asMember(`/projects/${CROWDED}/issues_statistics`)],
  ['/issues?scope=all', asMember('/issues?scope=all')],
  ['/issues?scope=all, as administrator', asAdministrator('/issues?scope=all')],
  ['/issues?scope=all&search= that few match', asMember(`/issues?scope=all&search=${RARE}`)],
  ['/groups/:id/issues', asMember('/groups/group1/issues')],
  ['/groups/:id/issues?state=closed', asMember('/groups/group1/issues?state=closed')],
  ['/projects/:id/labels', asMember(`/projects/${CROWDED}/labels`)],
]

/** Each closes an issue of the crowded project, or reopens it. */
export const issueChanges = (pairs: number): Call[] =>
  Array.from({ length: pairs }, () => ['close', 'reopen'])
    .flat()
    .map((event) => ({
      ...asAdministrator(`/projects/${CROWDED}/issues/3`),
      method: 'PUT',
      body: `state_event=${event}`,
    }))

/** Lists whose totals contain rows that were just changed. */
export const changingIssues: readonly [string, Call][] = [
  ['list', ofIssues('')],
  ['state=opened', ofIssues('state=opened')],
  ['labels= of a tenth', ofIssues('labels=label3')],
  ['milestone= of a fifth', ofIssues('milestone=milestone2')],
  ['author_id= of many', ofIssues('author_id=10')],
  ['search= that all match', ofIssues(`search=${EVERYBODY}`)],
  ['updated_before= of half', ofIssues(`updated_before=${daysAgo(450)}`)],
  ['not[labels]=', ofIssues('not[labels]=label3')],
  ['/issues?scope=all', asMember('/issues?scope=all')],
  ['/groups/:id/issues', asMember('/groups/group1/issues')],
]

const change = (verb: string): Call => ({ ...asAdministrator(`/users/8/${verb}`), method: 'POST' })

/** Each changes a user that lists of users count, which invalidates all cached totals. */
export const changes = (pairs: number): Call[] =>
  Array.from({ length: pairs }, () => [change('block'), change('unblock')]).flat()
