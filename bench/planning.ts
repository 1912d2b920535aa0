/**
 * Planning requests other than lists of issues: each requests as many rows of a large store as of a small one, by a
 * different request for the small one if necessary.
 */
import type { Call } from './load.ts'
import { CROWDED } from './seed-issues.ts'
import { PHRASE, DISCUSSED } from './seed-planning.ts'
import { ADMINISTRATOR, HOLDERS, MEMBER } from './seed.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

/** A guest of the crowded project. */
const asGuest = (path: string): Call => ({ path: `/api/v4${path}`, token: MEMBER })
/** Its maintainer. */
const asMaintainer = (path: string): Call => ({ path: `/api/v4${path}`, token: HOLDERS.get(11)! })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })

const PROJECT = `/projects/${CROWDED}`
const ISSUE = `${PROJECT}/issues/${DISCUSSED}`
const USUAL = `${PROJECT}/issues/7`
const day = (days: number) => daysAgo(days).slice(0, 10)

/** The name, the call, and the call for which a small store returns as many rows. */
type Growing = readonly [string, Call, Call?]

function eventsAt(path: string): Growing[] {
  const callWith = (query: string) => asGuest(`${path}${path.includes('?') ? '&' : '?'}${query}`)
  const queries = [
    '',
    'action=commented',
    'action=pushed',
    'target_type=issue',
    `after=${day(450)}`,
    `before=${day(450)}`,
    `after=${day(800)}&action=closed`,
    'sort=asc',
    'page=5',
  ]
  const recent: Growing = [
    `${path} of three days, and of 300`,
    callWith(`after=${day(3)}`),
    callWith(`after=${day(300)}`),
  ]
  return [...queries.map((query): Growing => [`${path} ${query}`, callWith(query)]), recent]
}

const WORDS = {
  'a rare word': RARE,
  'a word that all have': EVERYBODY,
  'two words that all have': `${EVERYBODY}+music`,
  'a phrase': `%22${PHRASE.replace(' ', '+')}%22`,
  'a prefix': 'elab',
  'a prefix of one letter': 'e',
  'a prefix of many numbers': '1',
  'a rare word and one that all have': `${RARE}+${EVERYBODY}`,
  'no such word': 'nosuchword',
}

const found = (path: string, ...scopes: string[]): [string, Call][] =>
  scopes.flatMap((scope) =>
    Object.entries(WORDS).map(([name, words]): [string, Call] => [
      `${path} ${scope}: ${name}`,
      asGuest(`${path}?scope=${scope}&search=${words}`),
    ]),
  )

export const growingPlanning: readonly Growing[] = [
  ...[
    'notes',
    'notes?page=2',
    'notes?page=220',
    'notes?sort=asc',
    'notes?order_by=updated_at',
    'notes?activity_filter=only_activity',
    'notes?activity_filter=only_comments&page=200',
    'discussions',
    'discussions?page=120',
    'award_emoji',
    'award_emoji?page=20',
    'participants',
    'resource_label_events',
    'resource_label_events?page=50',
    'resource_state_events',
    'resource_milestone_events',
  ].map((path): [string, Call] => [`5,000 notes: ${path}`, asGuest(`${ISSUE}/${path}`)]),
  ['5,000 notes: notes, as maintainer', asMaintainer(`${ISSUE}/notes`)],
  ['5,000 notes: discussions, as maintainer', asMaintainer(`${ISSUE}/discussions`)],
  ...[
    'notes',
    'notes?activity_filter=only_activity',
    'discussions',
    'award_emoji',
    'participants',
    'notes/7/award_emoji',
  ].map((path): [string, Call] => [`ten notes: ${path}`, asGuest(`${USUAL}/${path}`)]),
  ...eventsAt('/events'),
  ...eventsAt('/events?scope=all'),
  ...eventsAt('/users/10/events'),
  ...eventsAt(`${PROJECT}/events`),
  ['events, as administrator', asAdministrator(`${PROJECT}/events`)],
  ['events, as administrator, after=', asAdministrator(`${PROJECT}/events?after=${day(450)}`)],
  ['events, as a visitor', { path: `/api/v4${PROJECT}/events` }],
  ...['', 'page=4', 'state=done', 'action=marked', 'author_id=20', `project_id=${CROWDED}`, 'type=Issue'].map(
    (query): [string, Call] => [`todos?${query}`, asGuest(`/todos?${query}`)],
  ),
  ['user_counts', asGuest('/user_counts')],
  ['labels', asGuest(`${PROJECT}/labels`)],
  ['labels?with_counts=true', asGuest(`${PROJECT}/labels?with_counts=true`)],
  ['labels?with_counts=true, as maintainer', asMaintainer(`${PROJECT}/labels?with_counts=true`)],
  ['labels?search=', asGuest(`${PROJECT}/labels?with_counts=true&search=label`)],
  ['labels of the group', asGuest('/groups/group1/labels?with_counts=true&only_group_labels=false')],
  ['one label', asGuest(`${PROJECT}/labels/label3`)],
  ['milestones', asGuest(`${PROJECT}/milestones`)],
  ['milestones?state=active', asGuest(`${PROJECT}/milestones?state=active`)],
  ['milestones?search=', asGuest(`${PROJECT}/milestones?search=milestone`)],
  ['issues of a milestone', asGuest(`${PROJECT}/milestones/1/issues`)],
  ['boards', asGuest(`${PROJECT}/boards`)],
  ['issues of a board’s list', asGuest(`${PROJECT}/boards/1/lists/1/issues`)],
  ['snippets', asGuest('/snippets')],
  ['snippets/public', asGuest('/snippets/public')],
  ['snippets/public?page=5', asGuest('/snippets/public?page=5')],
  ['snippets?created_after=', asGuest(`/snippets?created_after=${day(450)}`)],
  ['snippets/public?created_after=', asGuest(`/snippets/public?created_after=${day(450)}`)],
  ['snippets/all', asAdministrator('/snippets/all')],
  ['snippets of a project', asGuest(`${PROJECT}/snippets`)],
  ...found('/search', 'issues', 'milestones', 'snippet_titles', 'projects', 'users'),
  ...found('/groups/group1/search', 'issues', 'milestones', 'projects', 'users'),
  ...found(`${PROJECT}/search`, 'issues', 'milestones', 'notes', 'users'),
]
