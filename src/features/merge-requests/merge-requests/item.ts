import type { App } from '../../../context.ts'
import { listCommitIds } from '../../../git/history/history.ts'
import type { Row } from '../../../store/database.ts'
import { registeredKind } from '../../planning/items/registry.ts'
import { repositoryDir } from '../../projects/repositories/repository.ts'
import { askNewApprovers } from '../approval-rules/asking.ts'
import { followUpThreads } from '../notes/follow-up.ts'
import { MergeRequestEntity } from './entity.ts'
import { presentMergeRequestsById } from './load.ts'
import { findMergeRequests, mergeRequest } from './queries.ts'
import { mergeRequestRules, seesMergeRequest, seesMergeRequests } from './rules.ts'

/** More commits than these are not compared with the commits that the merge request mentions. */
const MOST_COMMITS = 1000

async function commitsOf(app: App, project: Row<'projects'>, id: number): Promise<readonly string[]> {
  const [one] = await findMergeRequests(app.db, [id])
  if (!one || one.head_sha === null || one.head_sha === one.base_sha) return []
  const not = one.base_sha === null ? [] : [one.base_sha]
  return listCommitIds(repositoryDir(app, project), { from: one.head_sha, not, limit: MOST_COMMITS })
}

export const mergeRequestItems = registeredKind({
  ...mergeRequestRules,
  path: '/projects/:id/merge_requests/:merge_request_iid',
  resource: mergeRequest,
  reading: 'readMergeRequest',
  by: 'user',
  itemOf: ({ mergeRequest }) => mergeRequest,
  timeAdded: 200,
  entity: MergeRequestEntity,
  present: (app, _viewer, page, how) => presentMergeRequestsById(app, page, how),
  presentTargets: (app, _viewer, ids) =>
    presentMergeRequestsById(
      app,
      ids.map((id) => ({ id })),
      { isMixed: true },
    ),
  alias: 'm',
  sees: seesMergeRequest,
  seesAll: seesMergeRequests,
  // Viewers see a merge request that is being merged as open.
  statesIn: (state) => (state === 'opened' ? ['opened', 'locked'] : [state]),
  commitsOf,
  followUp: followUpThreads,
  addTodos: askNewApprovers,
})
