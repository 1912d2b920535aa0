import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { oneOf } from '../../../api/wire.ts'
import { deployment } from '../../ci/environments/queries.ts'
import { MergeRequestEntity, SimpleMergeRequestEntity } from '../merge-requests/entity.ts'
import { presentListed } from '../merge-requests/load.ts'
import { mergeRequestsPolicy } from '../merge-requests/policy.ts'
import { listDeployedWith } from './queries.ts'

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/deployments/:deployment_id/merge_requests',
  summary: 'List the merge requests that a deployment brought',
  on: deployment,
  allow: 'readEnvironments',
  limiter: 'git',
  input: z.object({ view: oneOf('simple').nullish() }),
  output: pageOf(z.union([MergeRequestEntity, SimpleMergeRequestEntity])),
  async handle({ app, subject, input, page }) {
    if (!mergeRequestsPolicy.readMergeRequests(subject)) return { items: [], total: 0 }
    const { items, total } = await listDeployedWith(app, subject, subject.deployment, page)
    return { total, items: await presentListed(app, items, input) }
  },
})
