import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { issue } from '../issues/queries.ts'
import { LabelEventEntity, MilestoneEventEntity, StateEventEntity } from './entity.ts'
import {
  labelEvent,
  labelEventsOf,
  milestoneEvent,
  milestoneEventsOf,
  presentLabelEvents,
  presentMilestoneEvents,
  presentStateEvents,
  stateEvent,
  stateEventsOf,
} from './queries.ts'

const PATH = '/projects/:id/issues/:issue_iid'

export const listLabels = endpoint({
  method: 'GET',
  path: `${PATH}/resource_label_events`,
  summary: 'List when an issue got and lost labels',
  on: issue,
  allow: 'read',
  guest: true,
  output: pageOf(LabelEventEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfQuery(labelEventsOf(app.db, subject.issue.id), page)
    return { total, items: await presentLabelEvents(app, items) }
  },
})

export const getLabel = endpoint({
  method: 'GET',
  path: `${PATH}/resource_label_events/:event_id`,
  summary: 'Get when an issue got or lost a label',
  on: labelEvent,
  allow: 'read',
  guest: true,
  output: LabelEventEntity,
  handle: async ({ app, subject }) => (await presentLabelEvents(app, [subject.event]))[0]!,
})

export const listStates = endpoint({
  method: 'GET',
  path: `${PATH}/resource_state_events`,
  summary: 'List when an issue was closed and reopened',
  on: issue,
  allow: 'read',
  guest: true,
  output: pageOf(StateEventEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfQuery(stateEventsOf(app.db, subject.issue.id), page)
    return { total, items: await presentStateEvents(app, items) }
  },
})

export const getState = endpoint({
  method: 'GET',
  path: `${PATH}/resource_state_events/:event_id`,
  summary: 'Get when an issue was closed or reopened',
  on: stateEvent,
  allow: 'read',
  guest: true,
  output: StateEventEntity,
  handle: async ({ app, subject }) => (await presentStateEvents(app, [subject.event]))[0]!,
})

export const listMilestones = endpoint({
  method: 'GET',
  path: `${PATH}/resource_milestone_events`,
  summary: 'List when an issue got and lost a milestone',
  on: issue,
  allow: 'read',
  guest: true,
  output: pageOf(MilestoneEventEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfQuery(milestoneEventsOf(app.db, subject.issue.id), page)
    return { total, items: await presentMilestoneEvents(app, items) }
  },
})

export const getMilestone = endpoint({
  method: 'GET',
  path: `${PATH}/resource_milestone_events/:event_id`,
  summary: 'Get when an issue got or lost a milestone',
  on: milestoneEvent,
  allow: 'read',
  guest: true,
  output: MilestoneEventEntity,
  handle: async ({ app, subject }) => (await presentMilestoneEvents(app, [subject.event]))[0]!,
})
