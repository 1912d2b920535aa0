import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { bool, filledText, id, int, listOf, oneOf, text } from '../../../api/wire.ts'
import { presentMergeRequestRules, presentProjectRules } from './load.ts'
import { MergeRequestRuleEntity, ProjectRuleEntity } from './entity.ts'
import { approvable } from '../approvals/queries.ts'
import { approvingProject, listMergeRequestRules, listProjectRules, mergeRequestRule, projectRule } from './queries.ts'
import {
  changeMergeRequestRule,
  changeProjectRule,
  createMergeRequestRule,
  createProjectRule,
  removeMergeRequestRule,
  removeProjectRule,
} from './service.ts'

const PROJECT = '/projects/:id/approval_rules'
const ITEM = `${PROJECT}/:approval_rule_id` as const
const MERGE_REQUEST = '/projects/:id/merge_requests/:merge_request_iid/approval_rules'
const OWN = `${MERGE_REQUEST}/:approval_rule_id` as const

const ids = z.preprocess((value) => (value === '' || value === null ? [] : value), listOf(id)).optional()

const rule_type = oneOf('regular', 'any_approver').nullish()

const named = {
  user_ids: ids,
  usernames: listOf(text).nullish(),
  group_ids: ids,
}

const ofProject = {
  ...named,
  protected_branch_ids: ids,
  applies_to_all_protected_branches: bool.nullish(),
}

export const list = endpoint({
  method: 'GET',
  path: PROJECT,
  summary: 'List the approval rules of a project',
  on: approvingProject,
  allow: 'readMergeRequests',
  output: pageOf(ProjectRuleEntity),
  async handle({ app, viewer, subject, page }) {
    const { items, total } = await listProjectRules(app.db, subject.project.id, page)
    return { total, items: await presentProjectRules(app, viewer, subject.project.id, items) }
  },
})

export const settings = endpoint({
  method: 'GET',
  path: '/projects/:id/approval_settings',
  summary: 'Get the approval rules of a project at once',
  on: approvingProject,
  allow: 'readMergeRequests',
  output: z.strictObject({ rules: z.array(ProjectRuleEntity), fallback_approvals_required: z.int() }),
  async handle({ app, viewer, subject }) {
    const { id, approvals_before_merge } = subject.project
    const { items } = await listProjectRules(app.db, id, { limit: 100, offset: 0 })
    const rules = await presentProjectRules(app, viewer, id, items)
    return { rules, fallback_approvals_required: approvals_before_merge }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get an approval rule of a project',
  on: projectRule,
  allow: 'readMergeRequests',
  output: ProjectRuleEntity,
  handle: async ({ app, viewer, subject }) =>
    (await presentProjectRules(app, viewer, subject.project.id, [subject.rule]))[0]!,
})

export const create = endpoint({
  method: 'POST',
  path: PROJECT,
  summary: 'Add an approval rule to a project',
  on: approvingProject,
  allow: 'setApprovals',
  input: z.object({ name: filledText, approvals_required: int, rule_type, ...ofProject }),
  output: ProjectRuleEntity,
  async handle({ app, viewer, subject, input }) {
    const rule = await createProjectRule(app, subject, input)
    return (await presentProjectRules(app, viewer, subject.project.id, [rule]))[0]!
  },
})

export const update = endpoint({
  method: 'PUT',
  path: ITEM,
  summary: 'Update an approval rule of a project',
  on: projectRule,
  allow: 'setApprovals',
  input: z.object({
    name: filledText.optional(),
    approvals_required: int.optional(),
    remove_hidden_groups: bool.nullish(),
    ...ofProject,
  }),
  output: ProjectRuleEntity,
  async handle({ app, viewer, subject, input }) {
    const rule = await changeProjectRule(app, subject, subject.rule, input)
    return (await presentProjectRules(app, viewer, subject.project.id, [rule]))[0]!
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Remove an approval rule of a project',
  on: projectRule,
  allow: 'setApprovals',
  output: null,
  handle: ({ app, subject }) => removeProjectRule(app, subject.rule),
})

export const listOwn = endpoint({
  method: 'GET',
  path: MERGE_REQUEST,
  summary: 'List the approval rules of a merge request itself',
  on: approvable,
  allow: 'readMergeRequest',
  output: pageOf(MergeRequestRuleEntity),
  async handle({ app, viewer, subject, page }) {
    const { items, total } = await listMergeRequestRules(app.db, subject.mergeRequest.id, page)
    return { total, items: await presentMergeRequestRules(app, viewer, subject.project.id, items) }
  },
})

export const getOwn = endpoint({
  method: 'GET',
  path: OWN,
  summary: 'Get an approval rule of a merge request',
  on: mergeRequestRule,
  allow: 'readMergeRequest',
  output: MergeRequestRuleEntity,
  handle: async ({ app, viewer, subject }) =>
    (await presentMergeRequestRules(app, viewer, subject.project.id, [subject.rule]))[0]!,
})

export const createOwn = endpoint({
  method: 'POST',
  path: MERGE_REQUEST,
  summary: 'Add an approval rule to a merge request',
  on: approvable,
  allow: 'askApproval',
  alsoAsks: ['override the approval rules of the project'],
  input: z.object({
    name: filledText,
    approvals_required: int,
    approval_project_rule_id: id.nullish(),
    rule_type,
    ...named,
  }),
  output: MergeRequestRuleEntity,
  async handle({ app, viewer, subject, input }) {
    const rule = await createMergeRequestRule(app, subject, input)
    return (await presentMergeRequestRules(app, viewer, subject.project.id, [rule]))[0]!
  },
})

export const updateOwn = endpoint({
  method: 'PUT',
  path: OWN,
  summary: 'Update an approval rule of a merge request',
  on: mergeRequestRule,
  allow: 'askApproval',
  alsoAsks: ['override the approval rules of the project'],
  input: z.object({
    name: filledText.optional(),
    approvals_required: int.optional(),
    remove_hidden_groups: bool.nullish(),
    ...named,
  }),
  output: MergeRequestRuleEntity,
  async handle({ app, viewer, subject, input }) {
    const rule = await changeMergeRequestRule(app, subject, input)
    return (await presentMergeRequestRules(app, viewer, subject.project.id, [rule]))[0]!
  },
})

export const destroyOwn = endpoint({
  method: 'DELETE',
  path: OWN,
  summary: 'Remove an approval rule of a merge request',
  on: mergeRequestRule,
  allow: 'askApproval',
  alsoAsks: ['override the approval rules of the project'],
  output: null,
  handle: ({ app, subject }) => removeMergeRequestRule(app, subject),
})
