import type { Generated } from 'kysely'

declare module '../../../store/database.ts' {
  interface Tables {
    push_rules: {
      id: Generated<number>
      project_id: number
      deny_delete_tag: boolean
      member_check: boolean
      prevent_secrets: boolean
      /** Patterns: empty means no check. */
      commit_message_regex: string
      commit_message_negative_regex: string
      branch_name_regex: string
      author_email_regex: string
      file_name_regex: string
      /** In megabytes; 0 means no limit. */
      max_file_size: number
      commit_committer_check: boolean
      reject_unsigned_commits: boolean
      created_at: string
      updated_at: string
    }
  }
}
