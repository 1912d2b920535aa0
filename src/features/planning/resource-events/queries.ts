import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { issue } from '../issues/queries.ts'
import { presentMilestone } from '../milestones/entity.ts'
import { milestoneSurroundings, milestonesOf } from '../milestones/queries.ts'
import { presentLabelEvent, presentMilestoneEvent, presentStateEvent } from './entity.ts'
import type { LabelEvent, MilestoneEvent, StateEvent } from './model.ts'

export const labelEventsOf = (db: Db, issue: number) =>
  db.selectFrom('resource_label_events').selectAll().where('issue_id', '=', issue).orderBy('id')

export const stateEventsOf = (db: Db, issue: number) =>
  db.selectFrom('resource_state_events').selectAll().where('issue_id', '=', issue).orderBy('id')

export const milestoneEventsOf = (db: Db, issue: number) =>
  db.selectFrom('resource_milestone_events').selectAll().where('issue_id', '=', issue).orderBy('id')

const params = { event_id: id }

export const labelEvent = child(issue, {
  key: 'event',
  params,
  find: ({ db }, { issue }, { event_id }) => labelEventsOf(db, issue.id).where('id', '=', event_id).executeTakeFirst(),
})

export const stateEvent = child(issue, {
  key: 'event',
  params,
  find: ({ db }, { issue }, { event_id }) => stateEventsOf(db, issue.id).where('id', '=', event_id).executeTakeFirst(),
})

export const milestoneEvent = child(issue, {
  key: 'event',
  params,
  find: ({ db }, { issue }, { event_id }) =>
    milestoneEventsOf(db, issue.id).where('id', '=', event_id).executeTakeFirst(),
})

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
