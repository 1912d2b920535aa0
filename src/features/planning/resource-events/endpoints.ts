/** Resource events of noteables. */
import type { z } from 'zod'
import { child, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { NoteableKind } from '../notes/noteable.ts'
import { LabelEventEntity, MilestoneEventEntity, StateEventEntity } from './entity.ts'
import { eventsIn, presentLabelEvents, presentMilestoneEvents, presentStateEvents, type EventTable } from './queries.ts'

interface EventKind<T extends EventTable, R extends object> {
  table: T
  /** What happened to the noteable: in any of the events, in one of them. */
  any: string
  one: string
  entity: z.ZodType<R>
  present(app: App, events: readonly Row<T>[]): Promise<R[]>
}

function eventsOn<T extends EventTable, R extends object>(noteable: NoteableKind, kind: EventKind<T, R>) {
  const { noun, by } = noteable
  const { entity, present } = kind
  const path = `${noteable.path}/${kind.table}` as const
  const on = noteable.named()
  const eventsOf = eventsIn(kind.table)
  return {
    list: endpoint({
      method: 'GET',
      path,
      summary: `List when ${noun} ${kind.any}`,
      on,
      allow: 'read',
      by,
      output: pageOf(entity),
      async handle({ app, subject, page }) {
        const { items, total } = await pageOfQuery(eventsOf(app.db, subject.topic).orderBy('id'), page)
        return { total, items: await present(app, items) }
      },
    }),

    get: endpoint({
      method: 'GET',
      path: `${path}/:event_id`,
      summary: `Get when ${noun} ${kind.one}`,
      on: child(on, {
        key: 'event',
        params: { event_id: id },
        find: async ({ db }, { topic }, { event_id }) =>
          (await eventsOf(db, topic).where('id', '=', event_id).execute())[0],
      }),
      allow: 'read',
      by,
      output: entity,
      handle: async ({ app, subject }) => (await present(app, [subject.event]))[0]!,
    }),
  }
}

export function resourceEventsOn(noteable: NoteableKind) {
  const labels = eventsOn(noteable, {
    table: 'resource_label_events',
    any: 'got and lost labels',
    one: 'got or lost a label',
    entity: LabelEventEntity,
    present: presentLabelEvents,
  })
  const states = eventsOn(noteable, {
    table: 'resource_state_events',
    any: 'was closed and reopened',
    one: 'was closed or reopened',
    entity: StateEventEntity,
    present: presentStateEvents,
  })
  const milestones = eventsOn(noteable, {
    table: 'resource_milestone_events',
    any: 'got and lost a milestone',
    one: 'got or lost a milestone',
    entity: MilestoneEventEntity,
    present: presentMilestoneEvents,
  })
  return {
    listLabels: labels.list,
    getLabel: labels.get,
    listStates: states.list,
    getState: states.get,
    listMilestones: milestones.list,
    getMilestone: milestones.get,
  }
}
