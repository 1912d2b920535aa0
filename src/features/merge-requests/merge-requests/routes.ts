import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { blankable, bool, filledText, id, int, longText, text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { restoreFromBin } from '../../planning/bin/service.ts'
import { participationOn } from '../../planning/items/endpoints.ts'
import { assertAnyGiven, changeInput, people, planInput, withAssignees } from '../../planning/items/input.ts'
import { createMergeRequestWithCommands } from '../quick-actions/service.ts'
import { MergeRequestDetailEntity, ReviewerEntity } from './entity.ts'
import { mergeRequestKind } from './kind.ts'
import { presentOneMergeRequest } from './load.ts'
import { deletedMergeRequest, findMergeRequest, mergeRequest, mergeRequests } from './queries.ts'
import { listReviewers } from './reviewers.ts'
import { deleteMergeRequest } from './deletion.ts'
import { updateMergeRequest } from './service.ts'

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

const mergeInput = {
  remove_source_branch: bool.nullish(),
  squash: bool.nullish(),
  allow_collaboration: bool.nullish(),
  allow_maintainer_to_push: bool.nullish(),
}

type Input = Parameters<typeof withAssignees>[0] & z.infer<z.ZodObject<typeof mergeInput>>

/** Accepts older parameter names. */
function inputOf<I extends Input>({ allow_maintainer_to_push, ...input }: I) {
  return { ...withAssignees(input), allow_collaboration: input.allow_collaboration ?? allow_maintainer_to_push }
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a merge request',
  on: mergeRequests,
  allow: 'createMergeRequest',
  alsoAsks: ['read the code of the target project'],
  limiter: 'git',
  input: z.object({
    title: text,
    source_branch: text,
    target_branch: text,
    target_project_id: blankable(id),
    approvals_before_merge: blankable(int),
    description: longText.nullish(),
    reviewer_ids: people,
    ...planInput,
    ...mergeInput,
  }),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    const { created, target } = await createMergeRequestWithCommands(app, viewer, subject, inputOf(input))
    const viewed = { ...target, mergeRequest: { ...created, assigned: false, reviewing: false } }
    return presentOneMergeRequest(app, viewer, viewed)
  },
})

const { assignee_id, assignee_ids, ...otherChanges } = changeInput

const changes = {
  title: filledText.optional(),
  description: longText.nullish(),
  target_branch: filledText.optional(),
  assignee_id,
  assignee_ids,
  reviewer_ids: people,
  ...otherChanges,
  ...mergeInput,
}

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update, close or reopen a merge request',
  on: mergeRequest,
  allow: 'update',
  input: z.object(changes),
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject, input }) {
    assertAnyGiven(changes, input)
    const updated = await updateMergeRequest(app, viewer, subject, subject.mergeRequest.id, inputOf(input))
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

export const restore = endpoint({
  method: 'POST',
  path: `${ITEM}/restore`,
  summary: 'Restore a deleted merge request',
  on: deletedMergeRequest,
  allow: 'restoreMergeRequest',
  output: MergeRequestDetailEntity,
  async handle({ app, viewer, subject: { deleted, ...subject } }) {
    await restoreFromBin(app, deleted)
    const restored = await findMergeRequest(app, subject.project.id, deleted.iid!, viewer.id)
    if (!restored) throw notFound() // another request deleted the merge request again
    return presentOneMergeRequest(app, viewer, { ...subject, mergeRequest: restored })
  },
})

export const { subscribe, unsubscribe, participants } = participationOn({
  kind: mergeRequestKind,
  path: ITEM,
  on: mergeRequest,
  of: (subject) => subject.mergeRequest,
  reading: 'readMergeRequest',
  by: 'user',
  subscribing: 'update',
  status: 200,
  output: MergeRequestDetailEntity,
  present: presentOneMergeRequest,
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
