import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { blankable, bool, date, id, listOf, moment, oneOf, text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import type { App } from '../../../context.ts'
import { planningScopes, projectScope } from '../scopes.ts'
import { MilestoneEntity, type MilestoneRecord } from './entity.ts'
import type { Milestone } from './model.ts'
import { listMilestones, milestone, presentMilestones } from './queries.ts'
import { promoteMilestone } from './promotion.ts'
import { createMilestone, deleteMilestone, updateMilestone } from './service.ts'

const attributes = { description: text.nullish(), start_date: blankable(date), due_date: blankable(date) }
const changes = {
  title: text.nullish(),
  ...attributes,
  state_event: oneOf('close', 'activate').nullish(),
}
const NOTHING_GIVEN = `${Object.keys(changes).join(', ')} are missing, at least one parameter must be provided`

async function shown(app: App, milestone: Milestone): Promise<MilestoneRecord> {
  const [record] = await presentMilestones(app, [milestone])
  if (!record) throw notFound()
  return record
}

export const [list, listOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/milestones`,
    summary: `List the milestones of a ${scope.kind}`,
    on: scope.resource,
    allow: 'readMilestones',
    by: 'visitor',
    input: z.object({
      state: oneOf('active', 'closed', 'all').nullish(),
      iids: listOf(id).nullish(),
      title: text.nullish(),
      search: text.nullish(),
      include_ancestors: bool.nullish(),
      include_parent_milestones: bool.nullish(), // the older name of `include_ancestors`
      updated_after: blankable(moment),
      updated_before: blankable(moment),
    }),
    output: pageOf(MilestoneEntity),
    async handle({ app, subject, input, page }) {
      const ancestors = input.include_ancestors ?? input.include_parent_milestones
      const { items, total } = await listMilestones(app.db, subject, { ...input, ancestors }, page)
      return { total, items: await presentMilestones(app, items) }
    },
  }),
)

export const [get, getOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/milestones/:milestone_id`,
    summary: `Get a milestone of a ${scope.kind}`,
    on: milestone(scope),
    allow: 'readMilestones',
    by: 'visitor',
    output: MilestoneEntity,
    handle: ({ app, subject }) => shown(app, subject.milestone),
  }),
)

export const [create, createInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'POST',
    path: `${scope.path}/milestones`,
    summary: `Add a milestone to a ${scope.kind}`,
    on: scope.resource,
    allow: 'plan',
    input: z.object({ title: text, ...attributes }),
    output: MilestoneEntity,
    async handle({ app, viewer, subject, input }) {
      return shown(app, await createMilestone(app, viewer, subject, input))
    },
  }),
)

export const [update, updateInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'PUT',
    path: `${scope.path}/milestones/:milestone_id`,
    summary: `Update, close or activate a milestone of a ${scope.kind}`,
    on: milestone(scope),
    allow: 'plan',
    input: z.object(changes).refine((input) => Object.values(input).some((value) => value !== undefined), {
      message: NOTHING_GIVEN,
    }),
    output: MilestoneEntity,
    async handle({ app, viewer, subject, input }) {
      return shown(app, await updateMilestone(app, viewer, subject, subject.milestone, input))
    },
  }),
)

export const [destroy, destroyInGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'DELETE',
    path: `${scope.path}/milestones/:milestone_id`,
    summary: `Delete a milestone of a ${scope.kind}`,
    on: milestone(scope),
    allow: 'plan',
    changedAt: ({ milestone }) => milestone.updated_at,
    output: null,
    handle: ({ app, viewer, subject }) => deleteMilestone(app, viewer, subject.milestone),
  }),
)

export const promote = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones/:milestone_id/promote',
  summary: 'Promote a project milestone to a group milestone',
  on: milestone(projectScope),
  allow: 'plan',
  alsoAsks: ['plan in the group'],
  output: MilestoneEntity,
  status: 200,
  async handle({ app, viewer, subject }) {
    return shown(app, await promoteMilestone(app, viewer, subject, subject.milestone))
  },
})
