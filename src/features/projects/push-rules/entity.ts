import { z } from 'zod'
import { entity, timestampOut } from '../../../api/wire.ts'
import type { Row } from '../../../store/database.ts'

export const PushRuleEntity = entity({
  id: z.int(),
  project_id: z.int(),
  commit_message_regex: z.string(),
  commit_message_negative_regex: z.string(),
  branch_name_regex: z.string(),
  author_email_regex: z.string(),
  file_name_regex: z.string(),
  deny_delete_tag: z.boolean(),
  member_check: z.boolean(),
  prevent_secrets: z.boolean(),
  commit_committer_check: z.boolean(),
  reject_unsigned_commits: z.boolean(),
  max_file_size: z.int(),
  created_at: timestampOut,
}).meta({ id: 'PushRule' })

export function presentPushRule(rule: Row<'push_rules'>): z.infer<typeof PushRuleEntity> {
  return {
    id: rule.id,
    project_id: rule.project_id,
    commit_message_regex: rule.commit_message_regex,
    commit_message_negative_regex: rule.commit_message_negative_regex,
    branch_name_regex: rule.branch_name_regex,
    author_email_regex: rule.author_email_regex,
    file_name_regex: rule.file_name_regex,
    deny_delete_tag: rule.deny_delete_tag,
    member_check: rule.member_check,
    prevent_secrets: rule.prevent_secrets,
    commit_committer_check: rule.commit_committer_check,
    reject_unsigned_commits: rule.reject_unsigned_commits,
    max_file_size: rule.max_file_size,
    created_at: rule.created_at,
  }
}
