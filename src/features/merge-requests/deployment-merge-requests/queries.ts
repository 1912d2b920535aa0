import type { Page, PageWish } from '../../../api/pages.ts'
import type { App } from '../../../context.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import { inTextList, textList } from '../../../store/dialect.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { Deployment } from '../../ci/environments/model.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'

const MOST_COMMITS = 5000

/** Those whose commits came with it: since the one before, or with all that led to it. Newest first. */
export async function listDeployedWith(
  { db }: App,
  { project, dir }: RepositorySubject,
  deployment: Deployment,
  page: PageWish,
): Promise<Page<{ id: number }>> {
  const before = await db
    .selectFrom('deployments')
    .select('sha')
    .where('environment_id', '=', deployment.environment_id)
    .where('status', '=', 'success')
    .where('id', '<', deployment.id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const wish = { from: deployment.sha, not: before ? [before.sha] : [], limit: MOST_COMMITS }
  const commits = textList(db, await listCommitIds(dir, wish))
  const found = db
    .selectFrom('merge_requests as m')
    .select('m.id')
    .where('m.project_id', '=', project.id)
    .where('m.state', '=', 'merged')
    .where((eb) =>
      eb.or([inTextList(db, 'm.merge_commit_sha', commits), inTextList(db, 'm.squash_commit_sha', commits)]),
    )
    .orderBy('m.id', 'desc')
  return pageOfQuery(found, page)
}
