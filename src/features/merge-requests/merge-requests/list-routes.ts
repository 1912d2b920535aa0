import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { bool, oneOf } from '../../../api/wire.ts'
import { group } from '../../groups/groups/queries.ts'
import { milestone } from '../../planning/milestones/queries.ts'
import { planningScopes } from '../../planning/scopes.ts'
import { MergeRequestEntity, SimpleMergeRequestEntity } from './entity.ts'
import { filterFrom, filterInput } from './filter.ts'
import { MERGE_REQUEST_ORDERS, listMergeRequests, listMergeRequestsAt, listProjectMergeRequests } from './lists.ts'
import { presentListed, presentMergeRequestsById } from './load.ts'
import { mergeRequests } from './queries.ts'

const listInput = z.object({
  ...filterInput,
  order_by: oneOf(...MERGE_REQUEST_ORDERS).nullish(),
  sort: oneOf('asc', 'desc').nullish(),
  view: oneOf('simple').nullish(),
  with_labels_details: bool.nullish(),
  /** Accepted without effect: the merge status is always current. */
  with_merge_status_recheck: bool.nullish(),
})
const output = pageOf(z.union([MergeRequestEntity, SimpleMergeRequestEntity]))

export const listAll = endpoint({
  method: 'GET',
  path: '/merge_requests',
  summary: 'List merge requests of all visible projects; by default those created by the user',
  allow: 'signed_in',
  input: listInput,
  output,
  async handle({ app, viewer, input, page }) {
    const filter = await filterFrom(app, viewer, { ...input, scope: input.scope ?? 'created_by_me' })
    const { order_by, sort } = input
    const { items, total } = await listMergeRequests(app, viewer, { ...filter, order_by, sort }, page)
    return { total, items: await presentListed(app, items, { ...input, isMixed: true }) }
  },
})

export const listOfGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/merge_requests',
  summary: 'List merge requests of a group’s projects',
  on: group,
  allow: 'read',
  input: listInput,
  output,
  async handle({ app, viewer, subject, input, page }) {
    const filter = { ...(await filterFrom(app, viewer, input)), order_by: input.order_by, sort: input.sort }
    const { items, total } = await listMergeRequests(app, viewer, { ...filter, group: subject.group.id }, page)
    return { total, items: await presentListed(app, items, { ...input, isMixed: true }) }
  },
})

export const list = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  summary: 'List merge requests of a project',
  on: mergeRequests,
  allow: 'readMergeRequests',
  input: listInput,
  output,
  async handle({ app, viewer, subject, input, page }) {
    const filter = { ...(await filterFrom(app, viewer, input)), order_by: input.order_by, sort: input.sort }
    const { items, total } = await listProjectMergeRequests(app, subject, filter, page)
    return { total, items: await presentListed(app, items, input) }
  },
})

export const [ofMilestone, ofGroupMilestone] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/milestones/:milestone_id/merge_requests`,
    summary: `List the merge requests of a ${scope.kind}’s milestone, by the priority of their labels`,
    on: milestone(scope),
    allow: 'readMilestones',
    output: pageOf(MergeRequestEntity),
    async handle({ app, subject, page }) {
      const filter = { milestone_id: subject.milestone.id, order_by: 'label_priority', sort: 'asc' } as const
      const { items, total } = await listMergeRequestsAt(app, subject, filter, page)
      return { total, items: await presentMergeRequestsById(app, items, { isMixed: subject.project === null }) }
    },
  }),
)
