import { z } from 'zod'
import { endpoint, optional } from '../../../api/endpoint.ts'
import { blankable, bool, int, text } from '../../../api/wire.ts'
import { project } from '../projects/queries.ts'
import { PushRuleEntity, presentPushRule } from './entity.ts'
import { pushRule } from './queries.ts'
import { createPushRule, deletePushRule, updatePushRule } from './service.ts'

const fields = z.object({
  deny_delete_tag: bool.nullish(),
  member_check: bool.nullish(),
  prevent_secrets: bool.nullish(),
  commit_message_regex: text.nullish(),
  commit_message_negative_regex: text.nullish(),
  branch_name_regex: text.nullish(),
  author_email_regex: text.nullish(),
  file_name_regex: text.nullish(),
  max_file_size: blankable(int),
  commit_committer_check: bool.nullish(),
  reject_unsigned_commits: bool.nullish(),
})

const NAMES = Object.keys(fields.shape)

/** Rejects a request that changes nothing, because it must be a mistake. */
const changes = fields.refine((given) => Object.values(given).some((value) => value !== undefined), {
  message: `${NAMES.join(', ')} are missing, at least one parameter must be provided`,
})

export const get = endpoint({
  method: 'GET',
  path: '/projects/:id/push_rule',
  summary: 'Get the push rule of a project, if it has one',
  on: optional(pushRule),
  allow: 'administer',
  output: PushRuleEntity.nullable(),
  handle: async ({ subject }) => subject.rule && presentPushRule(subject.rule),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/push_rule',
  summary: 'Add a push rule to a project',
  on: project,
  allow: 'administer',
  input: fields,
  output: PushRuleEntity,
  handle: async ({ app, subject, input }) => presentPushRule(await createPushRule(app, subject.project, input)),
})

export const update = endpoint({
  method: 'PUT',
  path: '/projects/:id/push_rule',
  summary: 'Update the push rule of a project',
  on: project,
  allow: 'administer',
  input: changes,
  output: PushRuleEntity,
  handle: async ({ app, subject, input }) => presentPushRule(await updatePushRule(app, subject.project, input)),
})

export const destroy = endpoint({
  method: 'DELETE',
  path: '/projects/:id/push_rule',
  summary: 'Delete the push rule of a project',
  on: project,
  allow: 'administer',
  output: null,
  handle: ({ app, subject }) => deletePushRule(app, subject.project),
})
