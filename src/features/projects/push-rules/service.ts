import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { Refusal, notFound } from '../../../errors.ts'
import type { Row, RowChange } from '../../../store/database.ts'
import { unlessTaken } from '../../../store/violations.ts'
import type { Project } from '../projects/queries.ts'
import { PATTERNS, assertValidPushRule, type PushRuleInput } from './validation.ts'

const SWITCHES = [
  'deny_delete_tag',
  'member_check',
  'prevent_secrets',
  'commit_committer_check',
  'reject_unsigned_commits',
] as const

const BLANK = {
  commit_message_regex: '',
  commit_message_negative_regex: '',
  branch_name_regex: '',
  author_email_regex: '',
  file_name_regex: '',
  deny_delete_tag: false,
  member_check: false,
  prevent_secrets: false,
  commit_committer_check: false,
  reject_unsigned_commits: false,
  max_file_size: 0,
}

/** Null disables a rule. */
function columnsOf(input: PushRuleInput): RowChange<'push_rules'> {
  const change: RowChange<'push_rules'> = {}
  for (const name of PATTERNS) if (input[name] !== undefined) change[name] = input[name] ?? ''
  for (const name of SWITCHES) if (input[name] !== undefined) change[name] = input[name] ?? false
  if (input.max_file_size !== undefined) change.max_file_size = input.max_file_size ?? 0
  return change
}

export async function createPushRule(app: App, project: Project, input: PushRuleInput): Promise<Row<'push_rules'>> {
  await assertValidPushRule(app, input)
  const now = timestamp(app.clock)
  const inserted = app.db
    .insertInto('push_rules')
    .values({ ...BLANK, ...columnsOf(input), project_id: project.id, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
  const exists = () => new Refusal('unprocessable', 'Project push rule exists', { as: 'error' })
  return unlessTaken(inserted, 'push_rules', [['project_id']], exists)
}

export async function updatePushRule(app: App, project: Project, input: PushRuleInput): Promise<Row<'push_rules'>> {
  await assertValidPushRule(app, input)
  const updated = await app.db
    .updateTable('push_rules')
    .set({ ...columnsOf(input), updated_at: timestamp(app.clock) })
    .where('project_id', '=', project.id)
    .returningAll()
    .executeTakeFirst()
  if (!updated) throw notFound('Push Rule')
  return updated
}

export async function deletePushRule(app: App, project: Project): Promise<void> {
  await app.db.deleteFrom('push_rules').where('project_id', '=', project.id).execute()
}
