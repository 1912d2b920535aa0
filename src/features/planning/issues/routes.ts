import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { atScopes } from '../../../api/resource-scopes.ts'
import { blankable, bool, date, id, int, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { notFound } from '../../../errors.ts'
import { LARGEST_IID } from '../iids.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { restoreFromBin } from '../bin/service.ts'
import { participationOn } from '../items/endpoints.ts'
import { listsOn, ownScope } from '../items/list-endpoints.ts'
import { assertAnyGiven, changeInput, planInput, withAssignees } from '../items/input.ts'
import { itemKind } from '../items/registry.ts'
import { renderText } from '../markdown/service.ts'
import { IssueEntity, StatisticsEntity, UserAgentDetailEntity } from './entity.ts'
import { filterFrom, filterInput } from './filter.ts'
import { ISSUE_ORDERS, countIssues, issueLists } from './lists.ts'
import { issueKind } from './kind.ts'
import { presentIssuesById, presentOneIssue } from './load.ts'
import { ISSUE_TYPES } from './model.ts'
import { cloneIssue, moveIssue } from './move.ts'
import { reorderIssue } from './order.ts'
import { deletedIssue, findIssues, findUserAgentDetail, issue, issues, issueByItsName } from './queries.ts'
import { createIssueWithCommands } from '../quick-actions/service.ts'
import { planningScopes } from '../scopes.ts'
import { deleteIssue, updateIssue } from './service.ts'

const PATH = '/projects/:id/issues'
const ITEM = `${PATH}/:issue_iid`

const listInput = z.object({
  ...filterInput,
  order_by: oneOf(...ISSUE_ORDERS).nullish(),
  sort: oneOf('asc', 'desc').nullish(),
  with_labels_details: bool.nullish(),
})
/** The server has no epics and no iterations, and pages have numbers. */
const refused = ['cursor', 'epic_id', 'health_status', 'iteration_id', 'iteration_title']

const statisticsInput = z.object(filterInput)

export const { listAll, listOfGroup, list, ofMilestone, ofGroupMilestone } = listsOn({
  kind: issueKind,
  by: 'visitor',
  on: issues,
  allow: 'read',
  input: listInput,
  refuses: refused,
  filterFrom,
  lists: issueLists,
  entity: IssueEntity,
  present: presentIssuesById,
})

export const countAll = endpoint({
  method: 'GET',
  path: '/issues_statistics',
  summary: 'Count issues of all visible projects; by default those created by the user',
  by: 'visitor',
  allow: 'anyone',
  input: statisticsInput,
  refuses: refused,
  output: StatisticsEntity,
  async handle({ app, viewer, input }) {
    const filter = await filterFrom(app, viewer, ownScope(viewer, input))
    return {
      statistics: { counts: await countIssues((one, cut) => issueLists.listAll(app, viewer, one, cut), filter) },
    }
  },
})

export const [count, countOfGroup] = atScopes(planningScopes, (scope) =>
  endpoint({
    method: 'GET',
    path: `${scope.path}/issues_statistics`,
    summary: `Count issues of ${scope.kind === 'group' ? 'a group’s projects' : 'a project'}`,
    on: scope.resource,
    allow: 'read',
    by: 'visitor',
    input: statisticsInput,
    refuses: refused,
    output: StatisticsEntity,
    async handle({ app, viewer, subject, input }) {
      const filter = await filterFrom(app, viewer, input)
      return {
        statistics: { counts: await countIssues((one, cut) => issueLists.listAt(app, subject, one, cut), filter) },
      }
    },
  }),
)

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get an issue',
  on: issue,
  allow: 'read',
  by: 'visitor',
  input: z.object({ render_html: bool.nullish() }),
  output: IssueEntity,
  async handle({ app, viewer, subject, input }) {
    const shown = await presentOneIssue(app, viewer, subject.issue)
    if (!input.render_html) return shown
    return { ...shown, description_html: await renderText(app, viewer, subject, shown.description ?? '') }
  },
})

export const getById = endpoint({
  method: 'GET',
  path: '/issues/:id',
  summary: 'Get an issue by its id in the whole instance',
  allow: 'administrator',
  input: z.object({ id }),
  output: IssueEntity,
  async handle({ app, viewer, input }) {
    const [found] = await findIssues(app.db, [input.id])
    // Null while the project is in the bin.
    const project = found && (await findProjectById(app.db, found.project_id))
    if (!project) throw notFound('Issue')
    return presentOneIssue(app, viewer, found)
  },
})

/** An invalid date clears the field, like an empty text. */
const due = z.preprocess((value) => (date.safeParse(value).success ? value : null), date.nullable()).optional()

const fields = {
  ...planInput,
  due_date: due,
  weight: blankable(int),
  issue_type: oneOf(...ISSUE_TYPES).optional(),
  created_at: moment.optional(),
}

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create an issue',
  throttle: 'issues_create_limit',
  on: issues,
  allow: 'createIssue',
  input: z.object({
    title: text,
    description: longText.nullish(),
    confidential: bool.optional(),
    ...fields,
    iid: int.pipe(z.int().min(1).max(LARGEST_IID)).optional(),
    merge_request_to_resolve_discussions_of: blankable(id),
    discussion_to_resolve: text.nullish(),
  }),
  output: IssueEntity,
  async handle({ app, viewer, caller, userAgent, subject, input }) {
    const sender = { userAgent, address: caller.address }
    const { merge_request_to_resolve_discussions_of: iid, discussion_to_resolve: discussion, ...given } = input
    const followed = iid
      ? await itemKind('merge_request').followUp?.(app, viewer, subject.project, { iid, discussion })
      : null
    const request = withAssignees({
      ...given,
      description: given.description || followed?.description || given.description,
    })
    const created = await createIssueWithCommands(app, viewer, subject, request, sender, followed?.settle)
    return presentOneIssue(app, viewer, created)
  },
})

const changes = {
  title: text.optional(),
  description: longText.nullish(),
  confidential: bool.optional(),
  ...changeInput,
  weight: fields.weight,
  issue_type: fields.issue_type,
  created_at: fields.created_at,
  updated_at: moment.optional(),
  due_date: fields.due_date,
}

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update, close or reopen an issue',
  on: issue,
  allow: 'update',
  input: z.object(changes),
  output: IssueEntity,
  async handle({ app, viewer, subject, input }) {
    assertAnyGiven(changes, input)
    return presentOneIssue(app, viewer, await updateIssue(app, viewer, subject, subject.issue.id, withAssignees(input)))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete an issue',
  on: issueByItsName,
  allow: 'destroy',
  changedAt: ({ issue }) => issue.updated_at,
  output: null,
  handle: ({ app, viewer, subject }) => deleteIssue(app, viewer, subject.issue),
})

export const restore = endpoint({
  method: 'POST',
  path: `${ITEM}/restore`,
  summary: 'Restore a deleted issue',
  on: deletedIssue,
  allow: 'restoreIssue',
  output: IssueEntity,
  async handle({ app, viewer, subject: { deleted } }) {
    await restoreFromBin(app, deleted)
    const [restored] = await findIssues(app.db, [deleted.record_id])
    if (!restored) throw notFound('Issue') // another request deleted the issue again
    return presentOneIssue(app, viewer, restored)
  },
})

const target = { to_project_id: id }

export const move = endpoint({
  method: 'POST',
  path: `${ITEM}/move`,
  summary: 'Move an issue to another project',
  throttle: 'issues_create_limit',
  on: issueByItsName,
  allow: 'read',
  input: z.object(target),
  output: IssueEntity,
  handle: async ({ app, viewer, subject, input }) =>
    presentOneIssue(app, viewer, await moveIssue(app, viewer, subject, input.to_project_id)),
})

export const clone = endpoint({
  method: 'POST',
  path: `${ITEM}/clone`,
  summary: 'Copy an issue into a project',
  throttle: 'issues_create_limit',
  on: issueByItsName,
  allow: 'read',
  input: z.object({ ...target, with_notes: bool.nullish() }),
  output: IssueEntity,
  handle: async ({ app, viewer, subject, input }) =>
    presentOneIssue(
      app,
      viewer,
      await cloneIssue(app, viewer, subject, input.to_project_id, { withNotes: Boolean(input.with_notes) }),
    ),
})

export const reorder = endpoint({
  method: 'PUT',
  path: `${ITEM}/reorder`,
  summary: 'Reorder an issue',
  on: issue,
  allow: 'update',
  input: z.object({ move_after_id: id.nullish(), move_before_id: id.nullish() }),
  output: IssueEntity,
  async handle({ app, viewer, subject, input }) {
    const request = { after: input.move_after_id ?? null, before: input.move_before_id ?? null }
    return presentOneIssue(app, viewer, await reorderIssue(app, subject.issue, request))
  },
})

export const { subscribe, unsubscribe, participants } = participationOn({
  kind: issueKind,
  path: ITEM,
  on: issue,
  of: (subject) => subject.issue,
  reading: 'read',
  by: 'visitor',
  subscribing: 'participate',
  status: 201,
  output: IssueEntity,
  present: (app, viewer, { issue }) => presentOneIssue(app, viewer, issue),
})

export const userAgentDetail = endpoint({
  method: 'GET',
  path: `${ITEM}/user_agent_detail`,
  summary: 'Get where an issue was sent from',
  on: issue,
  allow: 'administrator',
  output: UserAgentDetailEntity,
  async handle({ app, subject }) {
    const found = await findUserAgentDetail(app.db, subject.issue.id)
    if (!found) throw notFound('UserAgentDetail')
    return { user_agent: found.user_agent, ip_address: found.ip_address, akismet_submitted: false }
  },
})
