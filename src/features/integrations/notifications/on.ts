/** Subscribers that turn events into notifications: the recipients and the reason. */
import { on, type App, type User } from '../../../context.ts'
import type { EventSource } from '../../../jobs/queue.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { findUser } from '../../identity/users/queries.ts'
import { mergeRequestKind } from '../../merge-requests/merge-requests/kind.ts'
import { assigneesOf } from '../../planning/issues/queries.ts'
import { usersOfItems } from '../../planning/items/links.ts'
import type { CustomEvent } from '../../planning/notification-settings/model.ts'
import { mentionedPeople, namesAdded, namesIn, type Mentions } from '../../planning/todos/mentions.ts'
import { subscriptionsTo, type Reached } from './audience.ts'
import { findItem, type Item } from './items.ts'
import type { Change, Facts, Kind } from './model.ts'
import { announce, type Notification } from './service.ts'

/** The limit of members per mentioned group. */
const EVERYBODY = 50_000

/** A notification without the fields derived from the event. */
type Draft = Omit<Notification, 'source' | 'watched'> & { readonly watched?: Notification['watched'] }

async function publish(app: App, { source, at }: EventSource, item: Item, draft: Draft): Promise<void> {
  const known = source ?? `${at} ${JSON.stringify(draft.facts)}`
  await announce(app, item, { watched: [], ...draft, source: `${known} ${draft.kind}` })
}

const takingPart = async (app: App, item: Item, event: CustomEvent | null): Promise<Reached> => ({
  ids: await item.participants(app),
  way: 'participating',
  reason: 'participating',
  event,
})

/** Users that a text mentions, as far as its author may mention them. */
async function named(app: App, by: User | null, { project }: Item, names: Mentions): Promise<Reached> {
  const found = by && names.size > 0 ? await mentionedPeople(app, by, project.id, names, EVERYBODY) : null
  const ids = found ? [...found.addressed, ...found.mentioned] : []
  return { ids, way: 'mention', reason: 'mentioned', event: null }
}

const actorOf = async (app: App, by: number | null) => (by === null ? null : findUser(app.db, by))

type Found = { readonly item: Item; readonly facts: Facts }

type Find = (app: App, id: number) => Promise<Found | null>

const finding =
  (kind: 'issue' | 'merge_request'): Find =>
  async (app, id) => {
    const facts: Facts = { [kind]: id }
    const item = await findItem(app, facts)
    return item && { item, facts }
  }
const findIssueItem = finding('issue')
const findRequestItem = finding('merge_request')

type Happening = { readonly id: number; readonly by: number | null }

/** A change of state: for participants and for users who watch the project. */
const became =
  (find: Find, kind: Kind, event: CustomEvent | null) =>
  async (app: App, { id, by }: Happening, eventSource: EventSource): Promise<void> => {
    const found = await find(app, id)
    if (!found) return
    const { item, facts } = found
    const reached = [await takingPart(app, item, event)]
    await publish(app, eventSource, item, { kind, by, facts, reached, watched: [event] })
  }

const textsOf = ({ about }: Item) => {
  const row = 'issue' in about ? about.issue : 'mergeRequest' in about ? about.mergeRequest : null
  return row ? [row.title, row.description] : []
}

const labelsOf = async ({ db }: App, kind: 'issue' | 'merge_request', id: number): Promise<number[]> => {
  const rows =
    kind === 'issue'
      ? await db.selectFrom('issue_labels').select('label_id').where('issue_id', '=', id).execute()
      : await db.selectFrom('merge_request_labels').select('label_id').where('merge_request_id', '=', id).execute()
  return rows.map(({ label_id }) => label_id)
}

const issueCreated = on('issue.created', 'mail', async (app, { id, by }, eventSource) => {
  const found = await findIssueItem(app, id)
  if (!found) return
  const { item } = found
  const event = 'new_issue' as const
  const origin = await app.db.selectFrom('issues').select('id').where('moved_to_id', '=', id).executeTakeFirst()
  const people = await takingPart(app, item, event)
  if (origin) {
    // Participants get the mail about the move instead.
    const draft = { kind: event, by, facts: found.facts, reached: [], except: people.ids, watched: [event] }
    return publish(app, eventSource, item, draft)
  }
  const assignees = (await assigneesOf(app.db, [id])).get(id) ?? []
  const actor = await actorOf(app, by)
  await publish(app, eventSource, item, {
    kind: event,
    by,
    facts: { ...found.facts, ...(assignees.length > 0 && { assignees: [[], assignees] as Change }) },
    reached: [
      people,
      { ids: assignees, way: 'participating', reason: 'assigned', event },
      await named(app, actor, item, await namesIn(textsOf(item))),
    ],
    watched: [event],
    labels: await labelsOf(app, 'issue', id),
  })
})

const issueMoved = on('issue.moved', 'mail', async (app, { id, to, by }, eventSource) => {
  const [old, moved] = [await findIssueItem(app, id), await findIssueItem(app, to)]
  if (!old || !moved) return
  const { yes, no } = await subscriptionsTo(app.db, old.item)
  const reached: Reached[] = [
    await takingPart(app, moved.item, null),
    await takingPart(app, old.item, null),
    { ids: yes, way: 'subscription', reason: 'subscribed', event: null },
  ]
  // The mail is about the new issue: users who may not see the new project get none.
  const facts = { ...moved.facts, from: id }
  await publish(app, eventSource, moved.item, { kind: 'move_issue', by, facts, reached, except: [...no] })
})

type Changes = { readonly [field: string]: readonly [unknown, unknown] }

const peopleIn = (changes: Changes, field: string) => changes[field] as Change | undefined

/** Both the former and the new assignees or reviewers: the change concerns both. */
function changedPeople(
  change: Change | undefined,
  reason: 'assigned' | 'review_requested',
  event: CustomEvent,
): Reached[] {
  if (!change) return []
  const [before, after] = change
  return [
    { ids: before, way: 'mention', reason: 'participating', event },
    { ids: after.filter((id) => !before.includes(id)), way: 'mention', reason, event },
  ]
}

/** One mail for all parts of a change. */
const changed =
  (find: Find, kind: 'change_issue' | 'change_merge_request') =>
  async (app: App, { id, by, changes }: Happening & { changes: Changes }, eventSource: EventSource): Promise<void> => {
    const found = await find(app, id)
    if (!found) return
    const { item } = found
    const reassign = kind === 'change_issue' ? 'reassign_issue' : 'reassign_merge_request'
    const assignees = peopleIn(changes, 'assignee_ids')
    const reviewers = peopleIn(changes, 'reviewer_ids')
    const [had, has] = peopleIn(changes, 'label_ids') ?? [[], []]
    const labels = has.filter((label) => !had.includes(label))
    const switches: CustomEvent[] = [
      ...(assignees ? [reassign as CustomEvent] : []),
      ...(reviewers ? ['change_reviewer_merge_request' as const] : []),
    ]
    const isText = 'title' in changes || 'description' in changes
    const [title, description = null] = textsOf(item)
    const names: Mentions = isText ? await namesAdded({ title: title ?? '', description }, changes) : new Map()
    const facts: Facts = {
      ...found.facts,
      ...(assignees && { assignees }),
      ...(reviewers && { reviewers }),
      ...(labels.length > 0 && { labels }),
    }
    await publish(app, eventSource, item, {
      kind,
      by,
      facts,
      reached: [
        ...(await Promise.all(switches.map((event) => takingPart(app, item, event)))),
        ...changedPeople(assignees, 'assigned', reassign),
        ...changedPeople(reviewers, 'review_requested', 'change_reviewer_merge_request'),
        await named(app, await actorOf(app, by), item, names),
      ],
      watched: switches,
      labels,
      forSubscribers: switches.length > 0,
    })
  }

const REPORTED = ['title', 'description', 'assignee_ids', 'reviewer_ids', 'label_ids']
const isReported = ({ changes }: { changes: Changes }) => REPORTED.some((field) => field in changes)

const issueChanged = on('issue.updated', 'mail', changed(findIssueItem, 'change_issue'), { when: isReported })
const requestChanged = on('merge_request.updated', 'mail', changed(findRequestItem, 'change_merge_request'), {
  when: isReported,
})

const requestCreated = on('merge_request.created', 'mail', async (app, { id, by }, eventSource) => {
  const found = await findRequestItem(app, id)
  if (!found) return
  const { item } = found
  const event = 'new_merge_request' as const
  const idsOf = async (role: 'assignees' | 'reviewers') =>
    (await usersOfItems(app.db, mergeRequestKind, role, [id])).get(id) ?? []
  const [assignees, reviewers, actor] = [await idsOf('assignees'), await idsOf('reviewers'), await actorOf(app, by)]
  await publish(app, eventSource, item, {
    kind: event,
    by,
    facts: {
      ...found.facts,
      ...(assignees.length > 0 && { assignees: [[], assignees] as Change }),
      ...(reviewers.length > 0 && { reviewers: [[], reviewers] as Change }),
    },
    reached: [
      await takingPart(app, item, event),
      { ids: assignees, way: 'participating', reason: 'assigned', event },
      { ids: reviewers, way: 'participating', reason: 'review_requested', event },
      await named(app, actor, item, await namesIn(textsOf(item))),
    ],
    watched: [event],
    labels: await labelsOf(app, 'merge_request', id),
  })
})

/** Auto-merge was enabled. */
const requestWaits = on(
  'merge_request.updated',
  'mail of auto-merge',
  became(findRequestItem, 'merge_when_pipeline_succeeds', 'merge_when_pipeline_succeeds'),
  { when: ({ changes }) => (changes as Changes)['auto_merge']?.[1] === true },
)

/** For the author, and for the user who enabled auto-merge. */
const requestStuck = on('merge_request.unmergeable', 'mail', async (app, { id }, eventSource) => {
  const found = await findRequestItem(app, id)
  if (!found || !('mergeRequest' in found.item.about)) return
  const { merge_user_id, author_id, state } = found.item.about.mergeRequest
  if (state !== 'opened') return
  const ids = [merge_user_id, author_id].filter((user) => user !== null)
  const reached: Reached[] = [{ ids, way: 'participating', reason: 'participating', event: null }]
  await publish(app, eventSource, found.item, {
    kind: 'unmergeable',
    by: null,
    facts: found.facts,
    reached,
    forSubscribers: false,
  })
})

/** One mail for all commits of a push. */
const requestPushed = on('merge_request.pushed', 'mail', async (app, { id, by, before, after }, eventSource) => {
  const found = await findRequestItem(app, id)
  if (!found) return
  const { item } = found
  const event = 'push_to_merge_request' as const
  const facts = { ...found.facts, before, after }
  await publish(app, eventSource, item, {
    kind: event,
    by,
    facts,
    reached: [await takingPart(app, item, event)],
    watched: [event],
  })
})

/** One mail for all notes published together. */
async function writeSystemNotes(app: App, ids: readonly number[], by: number, eventSource: EventSource): Promise<void> {
  const notes = await app.db
    .selectFrom('notes')
    .selectAll()
    .where('id', 'in', [...ids])
    .orderBy('id')
    .execute()
  const [note] = notes
  if (!note || note.system) return
  const facts: Facts = {
    notes: ids,
    ...(note.issue_id !== null && { issue: note.issue_id }),
    ...(note.merge_request_id !== null && { merge_request: note.merge_request_id }),
    ...(note.commit_sha !== null && { commit: note.commit_sha }),
    ...(note.snippet_id !== null && { snippet: note.snippet_id }),
  }
  const item = await findItem(app, facts, note.project_id)
  if (!item) return
  const names = await namesIn(notes.map(({ body }) => body))
  await publish(app, eventSource, item, {
    kind: 'new_note',
    by,
    facts,
    reached: [await takingPart(app, item, 'new_note'), await named(app, await actorOf(app, by), item, names)],
    watched: ['new_note'],
    internal: notes.some(({ internal }) => internal),
  })
}

const noteCreated = on(
  'note.created',
  'mail',
  (app, { id, by }, eventSource) => writeSystemNotes(app, [id], by, eventSource),
  {
    when: ({ review = false }) => !review,
  },
)
const reviewed = on('merge_request.reviewed', 'mail', (app, { notes, by }, eventSource) =>
  writeSystemNotes(app, notes, by, eventSource),
)

/** For the user who started the pipeline. */
const pipelineEnded = on(
  'pipeline.changed',
  'mail',
  async (app, { id, project_id, status }, eventSource) => {
    const facts = { pipeline: id }
    const item = await findItem(app, facts, project_id)
    if (!item || !('pipeline' in item.about)) return
    const { pipeline } = item.about
    // A child pipeline gets no mail: its parent gets one.
    if (pipeline.status !== status || pipeline.user_id === null || pipeline.source === 'parent_pipeline') return
    const kind =
      status === 'failed'
        ? 'failed_pipeline'
        : (await isMended(app, item.about.pipeline))
          ? 'fixed_pipeline'
          : 'success_pipeline'
    const reached: Reached[] = [{ ids: [pipeline.user_id], way: 'watch', reason: 'participating', event: kind }]
    await publish(app, eventSource, item, { kind, by: null, facts, reached })
  },
  { when: ({ status }) => status === 'failed' || status === 'success' },
)

/** Whether the previous pipeline of the same ref failed. */
async function isMended(
  { db }: App,
  { id, project_id, ref, tag }: { id: number; project_id: number; ref: string; tag: boolean },
) {
  const before = await db
    .selectFrom('pipelines')
    .select('status')
    .where('project_id', '=', project_id)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .where('source', '!=', 'parent_pipeline')
    .where('status', 'in', ['success', 'failed'])
    .where('id', '<', id)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return before?.status === 'failed'
}

const released = on('release.created', 'mail', async (app, { id, by }, eventSource) => {
  const release = await app.db.selectFrom('releases').select('project_id').where('id', '=', id).executeTakeFirst()
  const facts = { release: id }
  const item = release && (await findItem(app, facts, release.project_id))
  if (!item) return
  await publish(app, eventSource, item, { kind: 'new_release', by, facts, reached: [], watched: ['new_release'] })
})

async function tellMoved(
  app: App,
  { id, by, old_path }: { id: number; by: number; old_path?: string },
  eventSource: EventSource,
) {
  const facts: Facts = { ...(old_path !== undefined && { old_path }) }
  const item = await findItem(app, facts, id)
  if (!item) return
  const team = await app.db
    .selectFrom('project_authorizations')
    .select('user_id')
    .where('project_id', '=', id)
    .limit(EVERYBODY)
    .execute()
  const ids = team.map(({ user_id }) => user_id)
  const reached: Reached[] = [{ ids, way: 'team', reason: 'watching', event: 'moved_project' }]
  await publish(app, eventSource, item, { kind: 'moved_project', by, facts, reached })
}

const projectMoved = on('project.transferred', 'mail', tellMoved)
const projectRenamed = on('project.updated', 'mail', tellMoved, { when: ({ old_path }) => old_path !== undefined })

export const reactions: Subscription<App>[] = [
  issueCreated,
  issueChanged,
  on('issue.closed', 'mail', became(findIssueItem, 'close_issue', 'close_issue')),
  on('issue.reopened', 'mail', became(findIssueItem, 'reopen_issue', 'reopen_issue')),
  issueMoved,
  requestCreated,
  requestChanged,
  requestWaits,
  requestStuck,
  requestPushed,
  on('merge_request.closed', 'mail', became(findRequestItem, 'close_merge_request', 'close_merge_request')),
  on('merge_request.reopened', 'mail', became(findRequestItem, 'reopen_merge_request', 'reopen_merge_request')),
  on('merge_request.merged', 'mail', became(findRequestItem, 'merge_merge_request', 'merge_merge_request')),
  on('merge_request.approved', 'mail', became(findRequestItem, 'approve_merge_request', null)),
  on('merge_request.unapproved', 'mail', became(findRequestItem, 'unapprove_merge_request', null)),
  noteCreated,
  reviewed,
  pipelineEnded,
  released,
  projectMoved,
  projectRenamed,
]
