import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { oneOf } from '../../../api/wire.ts'
import { commit } from '../../repository/commits/queries.ts'
import { MergeRequestEntity, SimpleMergeRequestEntity } from '../merge-requests/entity.ts'
import { presentListed } from '../merge-requests/load.ts'
import { mergeRequestsPolicy } from '../merge-requests/policy.ts'
import { listBringing } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  summary: 'List the merge requests that bring in a commit',
  on: commit,
  allow: 'download',
  by: 'visitor',
  input: z.object({ view: oneOf('simple').nullish(), state: oneOf('opened', 'closed', 'merged', 'all').nullish() }),
  output: pageOf(z.union([MergeRequestEntity, SimpleMergeRequestEntity])),
  async handle({ app, viewer, subject, input, page }) {
    // Anonymous viewers see no merge requests here.
    if (!viewer || !mergeRequestsPolicy.readMergeRequests(subject)) return { items: [], total: 0 }
    const { items, total } = await listBringing(app.db, subject.project.id, subject.commit.id, input.state, page)
    return { total, items: await presentListed(app, items, input) }
  },
})
