/** Lists of pipelines and jobs, for as many rows of a large project as of a small one. */
import type { Call } from './load.ts'
import { CROWDED } from './seed-issues.ts'
import { RARE_REF, RUNNER } from './seed-pipelines.ts'
import { ADMINISTRATOR, MEMBER } from './seed.ts'
import { daysAgo } from './seed-values.ts'

const asMember = (path: string): Call => ({ path: `/api/v4/projects/${CROWDED}${path}`, token: MEMBER })
const asAdministrator = (path: string): Call => ({ path: `/api/v4${path}`, token: ADMINISTRATOR })

const PIPELINES = [
  '',
  'page=40',
  'scope=running',
  'scope=finished',
  'scope=branches',
  'status=success',
  'status=failed',
  'status=running',
  'ref=master',
  `ref=${RARE_REF}`,
  'ref=nowhere',
  'source=web',
  'username=user10',
  'order_by=status',
  'order_by=updated_at',
  'order_by=user_id&sort=asc',
  `updated_after=${daysAgo(50)}`,
]
const JOBS = ['', 'page=40', 'scope=success', 'scope=failed', 'scope[]=running', 'scope[]=pending&scope[]=failed']

export const growingPipelines: readonly [string, Call][] = [
  ...PIPELINES.map((query): [string, Call] => [`/pipelines?${query}`, asMember(`/pipelines?${query}`)]),
  ...JOBS.map((query): [string, Call] => [`/jobs?${query}`, asMember(`/jobs?${query}`)]),
  ['/pipelines/:id/jobs', asMember('/pipelines/7/jobs')],
  ['/pipelines/:id/jobs?scope=failed', asMember('/pipelines/3/jobs?scope=failed')],
  ['/runners/:id/jobs', asAdministrator(`/runners/${RUNNER}/jobs`)],
  ['/runners/:id/jobs?status=running', asAdministrator(`/runners/${RUNNER}/jobs?status=running`)],
  ['/runners/:id/jobs?status=failed', asAdministrator(`/runners/${RUNNER}/jobs?status=failed`)],
  ['/runners/:id/jobs?sort=asc', asAdministrator(`/runners/${RUNNER}/jobs?sort=asc`)],
]
