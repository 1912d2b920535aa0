import type { Page, PageRequest } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { findCommit } from '../../../git/objects/commits.ts'
import type { Db } from '../../../store/database.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Deployment } from '../../ci/environments/model.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

const MOST_COMMITS = 5000

type Deployed = Pick<Deployment, 'id' | 'environment_id' | 'sha'>

/** The commits of a deployment: since the previous successful one of the environment, or all ancestors. */
export async function commitsOf({ db }: App, dir: string, deployment: Deployed): Promise<string[]> {
  const before = await db
    .selectFrom('deployments')
    .select('sha')
    .where('environment_id', '=', deployment.environment_id)
    .where('status', '=', 'success')
    .where('id', '<', deployment.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return commitsBetween(dir, before?.sha ?? null, deployment.sha)
}

/** Merge requests that were merged as one of the commits. */
export function mergedBy(db: Db, project_id: number, commits: readonly string[]) {
  const list = textList(db, commits)
  return db
    .selectFrom('merge_requests as m')
    .select('m.id')
    .where('m.project_id', '=', project_id)
    .where('m.state', '=', 'merged')
    .where((eb) => eb.or([inTextList(db, 'm.merge_commit_sha', list), inTextList(db, 'm.squash_commit_sha', list)]))
}

/** Either commit may no longer exist. */
async function commitsBetween(dir: string, before: string | null, from: string): Promise<string[]> {
  if (!(await findCommit(dir, from))) return []
  const isKnown = before !== null && (await findCommit(dir, before)) !== null
  return listCommitIds(dir, { from, not: isKnown ? [before] : [], limit: MOST_COMMITS })
}

/** Newest first. */
export async function listDeployedWith(
  app: App,
  { dir }: RepositorySubject,
  deployment: Deployment,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  const commits = await commitsOf(app, dir, deployment)
  return pageOfQuery(mergedBy(app.db, deployment.project_id, commits).orderBy('m.id', 'desc'), page)
}

const AT_ONCE = 100

/** Deployments whose merge requests are not linked yet. */
export const listUnlinked = (db: Db, after: number): Promise<{ id: number }[]> =>
  db
    .selectFrom('deployments')
    .select('id')
    .where('status', '=', 'success')
    .where('linked', '=', false)
    .where('id', '>', after)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
