/** Every filter and order of lists of merge requests, for as many rows of a large project as of a small one. */
import type { Call } from './load.ts'
import { CROWDED, RARE_AUTHOR, RARE_EMOJI, RARE_LABEL } from './seed-issues.ts'
import { RARE_BRANCH, RARE_REVIEWER } from './seed-merge-requests.ts'
import { ADMINISTRATOR, MEMBER } from './seed.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const asMember = (path: string): Call => ({ path: `/api/v4${path}`, token: MEMBER })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })
const PROJECT = `/projects/${CROWDED}`
const ofProject = (query: string) => asMember(`${PROJECT}/merge_requests?${query}`)

const ORDERS = ['created_at', 'updated_at', 'merged_at', 'title', 'popularity', 'label_priority']

/** Filters by the names of their result rows. */
const FILTERS = {
  'page=40': 'page=40',
  'view=simple': 'view=simple',
  'state=opened': 'state=opened',
  'state=closed': 'state=closed',
  'state=merged': 'state=merged',
  'labels= of a tenth': 'labels=label3',
  'labels= that few have': `labels=${RARE_LABEL}`,
  'labels=None': 'labels=None',
  'with_labels_details=true': 'with_labels_details=true',
  'milestone= of a fifth': 'milestone=milestone2',
  'milestone=None': 'milestone=None',
  'author_id= of many': 'author_id=10',
  'author_id= of few': `author_id=${RARE_AUTHOR}`,
  'assignee_id= of many': 'assignee_id=10',
  'assignee_id=None': 'assignee_id=None',
  'reviewer_id= of many': 'reviewer_id=10',
  'reviewer_id= of few': `reviewer_id=${RARE_REVIEWER}`,
  'reviewer_id=None': 'reviewer_id=None',
  'approved_by_ids= of many': 'approved_by_ids[]=10',
  'approved_by_ids=Any': 'approved_by_ids=Any',
  'merge_user_id=': 'merge_user_id=9',
  'scope=assigned_to_me': 'scope=assigned_to_me',
  'my_reaction_emoji=': `my_reaction_emoji=${RARE_EMOJI}`,
  'iids[]=': 'iids[]=7&iids[]=70',
  'source_branch=': 'source_branch=branch7',
  'target_branch= of most': 'target_branch=master',
  'target_branch= of few': `target_branch=${RARE_BRANCH}`,
  'source_project_id=': `source_project_id=${CROWDED}`,
  'wip=yes': 'wip=yes',
  'wip=no': 'wip=no',
  'search= that few match': `search=${RARE}`,
  'search= that all match': `search=${EVERYBODY}`,
  'search= in the title': `search=${RARE}&in=title`,
  'created_after= of half': `created_after=${daysAgo(450)}`,
  'created_before= of half': `created_before=${daysAgo(450)}`,
  'updated_after= of half': `updated_after=${daysAgo(450)}`,
  'updated_before= of half': `updated_before=${daysAgo(450)}`,
  'not[labels]=': 'not[labels]=label3',
  'not[milestone]=': 'not[milestone]=milestone2',
  'not[author_id]=': 'not[author_id]=10',
  'not[reviewer_id]=': 'not[reviewer_id]=10',
}

export const growingRequests: readonly [string, Call][] = [
  ['list', ofProject('')],
  ['list, as administrator', asAdministrator(`${PROJECT}/merge_requests`)],
  ...Object.entries(FILTERS).map(([name, query]): [string, Call] => [name, ofProject(query)]),
  ...ORDERS.flatMap((order): [string, Call][] => [
    [`order_by=${order}`, ofProject(`order_by=${order}&sort=asc`)],
    [`/merge_requests?scope=all&order_by=${order}`, asAdministrator(`/merge_requests?scope=all&order_by=${order}`)],
    [`/groups/:id/merge_requests?order_by=${order}`, asMember(`/groups/group1/merge_requests?order_by=${order}`)],
  ]),
  ['/merge_requests', asMember('/merge_requests')],
  ['/merge_requests?scope=all', asMember('/merge_requests?scope=all')],
  ['/merge_requests?scope=all&state=opened', asMember('/merge_requests?scope=all&state=opened')],
  ['/merge_requests?scope=all&search= that few match', asMember(`/merge_requests?scope=all&search=${RARE}`)],
  ['/merge_requests?scope=all&source_branch=', asMember('/merge_requests?scope=all&source_branch=branch7')],
  ['/groups/:id/merge_requests', asMember('/groups/group1/merge_requests')],
  ['of a milestone', asMember(`${PROJECT}/milestones/1/merge_requests`)],
  ['labels?with_counts=true', asMember(`${PROJECT}/labels?with_counts=true`)],
]
