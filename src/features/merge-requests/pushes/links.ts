/** The lines after `git push` with URLs of open or new merge requests. */
import { sql } from 'kysely'
import type { App } from '../../../context.ts'
import { FeatureDisabled } from '../../../lib/levels.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { textsIn } from '../../../store/dialect.ts'
import { projectPaths } from '../../planning/items/load.ts'
import { branchOf, type Update } from '../../repository/gate/updates.ts'
import type { PushTarget } from '../../repository/gate/service.ts'

/** More would be unreadable: a mirror pushes thousands of branches. */
const MOST_LINKS = 10

export async function linkLines(
  app: App,
  { project, namespace }: PushTarget,
  updates: readonly Update[],
): Promise<string[]> {
  const isEnabled = project.printing_merge_requests_link_enabled
  if (!isEnabled || project.merge_requests_access_level === FeatureDisabled || project.empty_repo) return []
  const branches = updates
    .flatMap(({ ref, after }) => (after === null ? [] : (branchOf(ref) ?? [])))
    .filter((branch) => branch !== project.default_branch)
    .slice(0, MOST_LINKS)
  if (branches.length === 0) return []
  const known = await addressesOf(app, project.id, branches)
  const web = `${app.url}/${namespace.full_path}/${project.path}`
  return branches.flatMap((branch) => {
    const address = known.get(branch)
    if (address !== undefined) return ['', `View merge request for ${branch}:`, `  ${address}`, '']
    const query = `merge_request%5Bsource_branch%5D=${encodeURIComponent(branch)}`
    return [
      '',
      `To create a merge request for ${branch}, visit:`,
      `  ${pageBelow(web, `merge_requests/new?${query}`)}`,
      '',
    ]
  })
}

/** The newest open merge request of each source branch. */
async function addressesOf(
  { db, url }: App,
  source: number,
  branches: readonly string[],
): Promise<Map<string, string>> {
  const open = await db
    .selectFrom('merge_requests')
    .select(['source_branch', 'project_id', 'iid'])
    .where('source_project_id', '=', source)
    .where(sql<boolean>`source_branch in (${textsIn(db, JSON.stringify(branches))})`)
    .where('state', '=', 'opened')
    .orderBy('id')
    .execute()
  const paths = await projectPaths(
    db,
    open.map(({ project_id }) => project_id),
  )
  return new Map(
    open.map(({ source_branch, project_id, iid }) => [
      source_branch,
      pageBelow(`${url}/${paths.get(project_id)}`, `merge_requests/${iid}`),
    ]),
  )
}
