/** Resource events of noteables. */
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { NoteableKind } from '../notes/noteable.ts'
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

export function resourceEventsOn({ path, noun, by, named }: NoteableKind) {
  const topic = named()
  return {
    listLabels: endpoint({
      method: 'GET',
      path: `${path}/resource_label_events`,
      summary: `List when ${noun} got and lost labels`,
      on: topic,
      allow: 'read',
      by,
      output: pageOf(LabelEventEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await pageOfQuery(labelEventsOf(app.db, subject.topic), page)
        return { total, items: await presentLabelEvents(app, items) }
      },
    }),

    getLabel: endpoint({
      method: 'GET',
      path: `${path}/resource_label_events/:event_id`,
      summary: `Get when ${noun} got or lost a label`,
      on: labelEvent(topic),
      allow: 'read',
      by,
      output: LabelEventEntity,
      handle: async ({ app, subject }) => (await presentLabelEvents(app, [subject.event]))[0]!,
    }),

    listStates: endpoint({
      method: 'GET',
      path: `${path}/resource_state_events`,
      summary: `List when ${noun} was closed and reopened`,
      on: topic,
      allow: 'read',
      by,
      output: pageOf(StateEventEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await pageOfQuery(stateEventsOf(app.db, subject.topic), page)
        return { total, items: await presentStateEvents(app, items) }
      },
    }),

    getState: endpoint({
      method: 'GET',
      path: `${path}/resource_state_events/:event_id`,
      summary: `Get when ${noun} was closed or reopened`,
      on: stateEvent(topic),
      allow: 'read',
      by,
      output: StateEventEntity,
      handle: async ({ app, subject }) => (await presentStateEvents(app, [subject.event]))[0]!,
    }),

    listMilestones: endpoint({
      method: 'GET',
      path: `${path}/resource_milestone_events`,
      summary: `List when ${noun} got and lost a milestone`,
      on: topic,
      allow: 'read',
      by,
      output: pageOf(MilestoneEventEntity),
      async handle({ app, subject, page }) {
        const { items, total } = await pageOfQuery(milestoneEventsOf(app.db, subject.topic), page)
        return { total, items: await presentMilestoneEvents(app, items) }
      },
    }),

    getMilestone: endpoint({
      method: 'GET',
      path: `${path}/resource_milestone_events/:event_id`,
      summary: `Get when ${noun} got or lost a milestone`,
      on: milestoneEvent(topic),
      allow: 'read',
      by,
      output: MilestoneEventEntity,
      handle: async ({ app, subject }) => (await presentMilestoneEvents(app, [subject.event]))[0]!,
    }),
  }
}
