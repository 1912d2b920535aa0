import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { int, text } from '../../../api/wire.ts'
import { invalid } from '../../../errors.ts'
import { ApprovalStateEntity, ApprovalsEntity } from './entity.ts'
import { presentApprovalState, presentApprovalStatus } from './load.ts'
import { approvable } from './queries.ts'
import { approveMergeRequest, requireApprovals, unapproveMergeRequest } from './service.ts'

const ITEM = '/projects/:id/merge_requests/:merge_request_iid'

export const get = endpoint({
  method: 'GET',
  path: `${ITEM}/approvals`,
  summary: 'Get the approval status of a merge request',
  on: approvable,
  allow: 'readMergeRequest',
  limiter: 'git',
  output: ApprovalsEntity,
  handle: ({ app, viewer, subject }) => presentApprovalStatus(app, viewer, subject),
})

const MOST_APPROVALS = 100

export const require = endpoint({
  method: 'POST',
  path: `${ITEM}/approvals`,
  summary: 'Set how many approvals a merge request needs',
  on: approvable,
  allow: 'askApproval',
  alsoAsks: ['override the approval rules of the project'],
  limiter: 'git',
  input: z.object({ approvals_required: int }),
  output: ApprovalsEntity,
  async handle({ app, viewer, subject, input: { approvals_required } }) {
    if (approvals_required < 0) throw invalid({ approvals_required: ['must be greater than or equal to 0'] })
    if (approvals_required > MOST_APPROVALS)
      throw invalid({ approvals_required: [`must be less than or equal to ${MOST_APPROVALS}`] })
    const changed = await requireApprovals(app, subject, approvals_required)
    return presentApprovalStatus(app, viewer, subject, changed)
  },
})

export const approve = endpoint({
  method: 'POST',
  path: `${ITEM}/approve`,
  summary: 'Approve a merge request',
  on: approvable,
  allow: 'approve',
  denied: 'unauthenticated',
  alsoAsks: ['approve own changes, for the author and committers'],
  limiter: 'git',
  status: 200,
  input: z.object({ sha: text.nullish(), approval_password: text.nullish() }),
  output: ApprovalsEntity,
  async handle({ app, viewer, caller, subject, input }) {
    const { address } = caller
    const approved = await approveMergeRequest(app, viewer, subject, { ...input, address })
    return presentApprovalStatus(app, viewer, subject, approved)
  },
})

export const unapprove = endpoint({
  method: 'POST',
  path: `${ITEM}/unapprove`,
  summary: 'Revoke an approval of a merge request',
  on: approvable,
  allow: 'approve',
  denied: 'unauthenticated',
  limiter: 'git',
  status: 200,
  output: ApprovalsEntity,
  async handle({ app, viewer, subject }) {
    const unapproved = await unapproveMergeRequest(app, viewer, subject.mergeRequest)
    return presentApprovalStatus(app, viewer, subject, unapproved)
  },
})

const stateAt = (path: `/${string}`, summary: string) =>
  endpoint({
    method: 'GET',
    path,
    summary,
    on: approvable,
    allow: 'readMergeRequest',
    output: ApprovalStateEntity,
    handle: ({ app, viewer, subject }) => presentApprovalState(app, viewer, subject.mergeRequest),
  })

export const state = stateAt(`${ITEM}/approval_state`, 'Get what each approval rule asks of a merge request')
export const settings = stateAt(`${ITEM}/approval_settings`, 'The same under an earlier name')
