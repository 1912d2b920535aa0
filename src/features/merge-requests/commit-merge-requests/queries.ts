import type { Page, PageRequest } from '../../../api/pages.ts'
import type { Db } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'

/** Merge requests that contain a commit, or that were merged as that commit. Newest first. */
export function listBringing(
  db: Db,
  project: number,
  sha: string,
  state: 'opened' | 'closed' | 'merged' | 'all' | null | undefined,
  page: PageRequest,
): Promise<Page<{ id: number }>> {
  // Clients see a merge request that is being merged as open.
  const states = state === 'opened' ? ['opened' as const, 'locked' as const] : state && state !== 'all' ? [state] : null
  const found = db
    .selectFrom('merge_requests as m')
    .select('m.id')
    .where('m.project_id', '=', project)
    .$if(states !== null, (query) => query.where('m.state', 'in', states!))
    .where((eb) =>
      eb(
        'm.id',
        'in',
        eb
          .selectFrom('merge_request_commits as c')
          .select('c.merge_request_id as id')
          .where('c.sha', '=', sha)
          .union(ofColumn(db, 'merge_commit_sha', project, sha))
          .union(ofColumn(db, 'squash_commit_sha', project, sha)),
      ),
    )
    .orderBy('m.id', 'desc')
  return pageOfQuery(found, page)
}

const ofColumn = (db: Db, column: 'merge_commit_sha' | 'squash_commit_sha', project: number, sha: string) =>
  db.selectFrom('merge_requests').select('id').where('project_id', '=', project).where(column, '=', sha)
