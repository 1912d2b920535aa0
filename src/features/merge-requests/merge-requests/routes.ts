import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, filledText, id, int, listOf, longText, oneOf, text } from '../../../api/wire.ts'
import { Refusal } from '../../../errors.ts'
import { UserSummaryEntity } from '../../identity/users/entity.ts'
import { presentSummaries } from '../../identity/users/load.ts'
import { isParticipant, listParticipants } from '../../planning/items/participants.ts'
import { setSubscription } from '../../planning/subscriptions/service.ts'
import { createMergeRequestWithCommands } from '../quick-actions/service.ts'
import { MergeRequestDetailEntity, ReviewerEntity } from './entity.ts'
import { mergeRequestKind } from './kind.ts'
import { presentOneMergeRequest } from './load.ts'
import { mergeRequest, mergeRequests } from './queries.ts'
import { listReviewers } from './reviewers.ts'
import { deleteMergeRequest, updateMergeRequest } from './service.ts'

const PATH = '/projects/:id/merge_requests'
const ITEM = `${PATH}/:merge_request_iid`

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a merge request',
  on: mergeRequest,
  allow: 'readMergeRequest',
  input: z.object({
    include_diverged_commits_count: bool.nullish(),
    include_rebase_in_progress: bool.nullish(),
  }),
  output: MergeRequestDetailEntity,
  handle: ({ app, viewer, subject, input }) =>
    presentOneMergeRequest(app, viewer, subject, subject.mergeRequest, input),
})

/** 0 and an empty value mean no user. */
const people = z.preprocess((value) => (value === '' || value === null ? [] : value), listOf(int)).optional()
const labels = z.preprocess((value) => (value === null ? [] : value), listOf(text)).optional()

const fields = {
  description: longText.nullish(),
  assignee_id: blankable(int),
  assignee_ids: people,
  reviewer_ids: people,
  milestone_id: blankable(int),
  labels,
  remove_source_branch: bool.nullish(),
  squash: bool.nullish(),
  allow_collaboration: bool.nullish(),
  allow_maintainer_to_push: bool.nullish(),
}

interface Input {
  assignee_id?: number | null | undefined
  assignee_ids?: number[] | undefined
  allow_collaboration?: boolean | null | undefined
  allow_maintainer_to_push?: boolean | null | undefined
}

/** Accepts older parameter names. */
function wishOf<I extends Input>({ assignee_id, allow_maintainer_to_push, ...input }: I) {
  const single = assignee_id === undefined ? undefined : assignee_id ? [assignee_id] : []
  return {
    ...input,
    assignee_ids: input.assignee_ids ?? single,
    allow_collaboration: input.allow_collaboration ?? allow_maintainer_to_push,
  }
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a merge request',
  on: mergeRequests,
  allow: 'createMergeRequest',
  limiter: 'git',
  input: z.object({
    title: text,
    source_branch: text,
    target_branch: text,
    target_project_id: blankable(id),
    approvals_before_merge: blankable(int),
    ...fields,
  }),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    const { created, target } = await createMergeRequestWithCommands(app, viewer, subject, wishOf(input))
    const met = { ...target, mergeRequest: { ...created, assigned: false, reviewing: false } }
    return presentOneMergeRequest(app, viewer, met)
  },
})

const CHANGEABLE = [
  'title',
  'description',
  'target_branch',
  'assignee_id',
  'assignee_ids',
  'reviewer_ids',
  'milestone_id',
  'labels',
  'add_labels',
  'remove_labels',
  'state_event',
  'discussion_locked',
  'remove_source_branch',
  'squash',
  'allow_collaboration',
  'allow_maintainer_to_push',
] as const

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update, close or reopen a merge request',
  on: mergeRequest,
  allow: 'update',
  input: z.object({
    title: filledText.optional(),
    target_branch: filledText.optional(),
    ...fields,
    add_labels: labels,
    remove_labels: labels,
    state_event: oneOf('close', 'reopen').optional(),
    discussion_locked: bool.nullish(),
  }),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    if (CHANGEABLE.every((name) => input[name] === undefined)) {
      const text = `${CHANGEABLE.join(', ')} are missing, at least one parameter must be provided`
      throw new Refusal('bad_request', text, { as: 'both' })
    }
    const updated = await updateMergeRequest(app, viewer, subject, subject.mergeRequest.id, wishOf(input))
    return presentOneMergeRequest(app, viewer, subject, updated)
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a merge request',
  on: mergeRequest,
  allow: 'destroy',
  changedAt: ({ mergeRequest }) => mergeRequest.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => deleteMergeRequest(app, viewer, subject.mergeRequest),
})

const subscribing = (wanted: boolean) =>
  endpoint({
    method: 'POST',
    path: `${ITEM}/${wanted ? 'subscribe' : 'unsubscribe'}`,
    summary: wanted ? 'Be told what happens to a merge request' : 'Be told no more what happens to a merge request',
    on: mergeRequest,
    allow: 'update',
    status: 200,
    output: MergeRequestDetailEntity,
    async handle({ app, viewer, subject }) {
      const { mergeRequest: one } = subject
      const usual = await isParticipant(app.db, mergeRequestKind, one, viewer.id)
      await setSubscription(app, viewer, { merge_request_id: one.id }, wanted, { usual })
      return presentOneMergeRequest(app, viewer, subject)
    },
  })

export const subscribe = subscribing(true)
export const unsubscribe = subscribing(false)

export const participants = endpoint({
  method: 'GET',
  path: `${ITEM}/participants`,
  summary: 'List who takes part in a merge request',
  on: mergeRequest,
  allow: 'readMergeRequest',
  output: pageOf(UserSummaryEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await listParticipants(app.db, mergeRequestKind, subject.mergeRequest, page)
    return { total, items: await presentSummaries(app, items) }
  },
})

export const reviewers = endpoint({
  method: 'GET',
  path: `${ITEM}/reviewers`,
  summary: 'List the reviewers of a merge request and their review states',
  on: mergeRequest,
  allow: 'readMergeRequest',
  output: pageOf(ReviewerEntity),
  handle: ({ app, subject, page }) => listReviewers(app, subject.mergeRequest, page),
})
