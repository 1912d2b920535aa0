import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { entity } from '../../../api/wire.ts'
import { pageOfArray } from '../../../store/pages.ts'
import { IssueEntity } from '../../planning/issues/entity.ts'
import { presentIssues, presentIssuesById } from '../../planning/issues/load.ts'
import { issue } from '../../planning/issues/queries.ts'
import { MergeRequestEntity } from '../merge-requests/entity.ts'
import { presentMergeRequestsById } from '../merge-requests/load.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { listOfIssue, listRelatedIssues } from './lists.ts'
import { findClosing } from './queries.ts'

/** Issues have no approvals, but the API has this field here and clients read it. */
const ClosedIssueEntity = IssueEntity.extend({ approvals_before_merge: z.null() }).meta({ id: 'ClosedIssue' })

export const closesIssues = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/closes_issues',
  summary: 'List issues that merging a merge request would close',
  on: mergeRequest,
  allow: 'readMergeRequest',
  limiter: 'git',
  output: pageOf(z.union([ClosedIssueEntity, entity({ id: z.string(), title: z.string() })])),
  async handle({ app, viewer, subject, page }) {
    const { issues, external } = await findClosing(app, viewer, subject, subject.mergeRequest)
    const records = await presentIssues(
      app,
      viewer,
      issues.map((one) => one.issue),
    )
    const closed = records.map((record) => ({ ...record, approvals_before_merge: null }))
    return pageOfArray([...closed, ...external.map((name) => ({ id: name, title: name }))], page)
  },
})

export const relatedIssues = endpoint({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/related_issues',
  summary: 'List issues that a merge request is about',
  on: mergeRequest,
  allow: 'readMergeRequest',
  output: pageOf(IssueEntity),
  async handle({ app, viewer, subject, page }) {
    const { items, total } = await listRelatedIssues(app, viewer, subject.mergeRequest.id, page)
    return { total, items: await presentIssuesById(app, viewer, items, { isMixed: true }) }
  },
})

const ofIssue = (name: string, way: 'closing' | 'related', summary: string) =>
  endpoint({
    method: 'GET',
    path: `/projects/:id/issues/:issue_iid/${name}`,
    summary,
    on: issue,
    allow: 'read',
    by: 'visitor',
    output: pageOf(MergeRequestEntity),
    async handle({ app, viewer, subject, page }) {
      const { items, total } = await listOfIssue(app, viewer, subject.issue.id, way, page)
      return { total, items: await presentMergeRequestsById(app, items, { isMixed: true }) }
    },
  })

export const closedBy = ofIssue('closed_by', 'closing', 'List merge requests that close an issue')
export const relatedMergeRequests = ofIssue(
  'related_merge_requests',
  'related',
  'List merge requests that an issue is about',
)
