import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { blankable, bool, int } from '../../../api/wire.ts'
import { approvingProject } from '../approval-rules/queries.ts'
import { ApprovalSettingsEntity, presentApprovalSettings } from './entity.ts'
import { findApprovalSettings } from './queries.ts'
import { changeApprovalSettings } from './service.ts'

const PATH = '/projects/:id/approvals'

export const get = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'Get how a project has its merge requests approved',
  on: approvingProject,
  allow: 'readMergeRequests',
  output: ApprovalSettingsEntity,
  handle: async ({ app, subject: { project } }) =>
    presentApprovalSettings(project, await findApprovalSettings(app.db, project.id)),
})

const fields = z.object({
  approvals_before_merge: blankable(int),
  reset_approvals_on_push: bool.nullish(),
  disable_overriding_approvers_per_merge_request: bool.nullish(),
  merge_requests_author_approval: bool.nullish(),
  merge_requests_disable_committers_approval: bool.nullish(),
  require_password_to_approve: bool.nullish(),
  require_reauthentication_to_approve: bool.nullish(),
})

const input = fields.refine((given) => Object.values(given).some((value) => value !== undefined), {
  message: `${Object.keys(fields.shape).join(', ')} are missing, at least one parameter must be provided`,
})

const changing = (method: 'POST' | 'PUT') =>
  endpoint({
    method,
    path: PATH,
    summary: 'Update the approval settings of a project',
    on: approvingProject,
    allow: 'setApprovals',
    input,
    output: ApprovalSettingsEntity,
    async handle({ app, viewer, subject, input: { require_reauthentication_to_approve, ...given } }) {
      const require_password_to_approve = given.require_password_to_approve ?? require_reauthentication_to_approve
      const request = { ...given, require_password_to_approve }
      const { project, settings } = await changeApprovalSettings(app, viewer, subject, request)
      return presentApprovalSettings(project, settings)
    },
  })

export const create = changing('POST')
export const update = changing('PUT')
