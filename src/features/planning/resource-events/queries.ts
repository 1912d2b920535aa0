import type { SelectQueryBuilder } from 'kysely'
import type { App } from '../../../context.ts'
import type { Db, Row, Tables } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { itemIn } from '../items/registry.ts'
import { presentMilestone } from '../milestones/entity.ts'
import { milestoneSurroundings, milestonesOf } from '../milestones/queries.ts'
import type { NoteableItem } from '../notes/noteable.ts'
import { presentLabelEvent, presentMilestoneEvent, presentStateEvent } from './entity.ts'
import type { LabelEvent, MilestoneEvent, StateEvent } from './model.ts'

export type EventTable = 'resource_label_events' | 'resource_state_events' | 'resource_milestone_events'

export const eventsIn =
  <T extends EventTable>(table: T) =>
  (db: Db, topic: NoteableItem) => {
    const item = itemIn(topic.noteable)
    // All three tables have these columns, but a union of table names hides that from the types.
    const events = db.selectFrom(table as 'resource_label_events').selectAll()
    return events.where(item?.kind.column ?? 'issue_id', '=', item?.id ?? 0) as unknown as SelectQueryBuilder<
      Tables,
      'resource_label_events',
      Row<T>
    >
  }

export async function presentLabelEvents(app: App, events: readonly LabelEvent[]) {
  const { db } = app
  const ids = events.flatMap(({ label_id }) => label_id ?? [])
  const [around, people, labels] = await Promise.all([
    surroundings(app),
    withUsers(db, events, { user: 'user_id' }),
    db
      .selectFrom('labels')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, ids)))
      .execute(),
  ])
  const byId = new Map(labels.map((label) => [label.id, label]))
  return people.map((event) => presentLabelEvent(event, byId.get(event.label_id ?? 0), around))
}

export async function presentStateEvents(app: App, events: readonly StateEvent[]) {
  const [around, people] = await Promise.all([surroundings(app), withUsers(app.db, events, { user: 'user_id' })])
  return people.map((event) => presentStateEvent(event, around))
}

export async function presentMilestoneEvents(app: App, events: readonly MilestoneEvent[]) {
  const [around, people, milestones] = await Promise.all([
    surroundings(app),
    withUsers(app.db, events, { user: 'user_id' }),
    milestonesOf(
      app.db,
      events.map(({ milestone_id }) => milestone_id),
    ),
  ])
  return people.map((event) => {
    const milestone = milestones.get(event.milestone_id ?? 0)
    return presentMilestoneEvent(
      event,
      milestone ? presentMilestone(milestone, milestoneSurroundings(app)) : null,
      around,
    )
  })
}
