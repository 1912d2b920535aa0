import type { App } from '../../../context.ts'
import { invalid, type FieldErrors } from '../../../errors.ts'
import { tooLong } from '../../../lib/text/faults.ts'
import { patternFault } from '../../../lib/text/patterns.ts'

export const PATTERNS = [
  'commit_message_regex',
  'commit_message_negative_regex',
  'branch_name_regex',
  'author_email_regex',
  'file_name_regex',
] as const

export interface PushRuleInput extends Partial<Record<(typeof PATTERNS)[number], string | null>> {
  deny_delete_tag?: boolean | null
  member_check?: boolean | null
  prevent_secrets?: boolean | null
  commit_committer_check?: boolean | null
  reject_unsigned_commits?: boolean | null
  max_file_size?: number | null
}

const LONGEST_PATTERN = 511
const LARGEST_SIZE = 2_147_483_647

export async function assertValidPushRule({ caller }: App, input: PushRuleInput): Promise<void> {
  const errors: FieldErrors = {}
  for (const name of PATTERNS) {
    const fault = await faultOf(input[name] ?? '', caller)
    if (fault) errors[name] = [fault]
  }
  const size = input.max_file_size ?? 0
  if (size < 0) errors.max_file_size = ['must be greater than or equal to 0']
  if (size > LARGEST_SIZE) errors.max_file_size = [`must be less than or equal to ${LARGEST_SIZE}`]
  if (Object.keys(errors).length > 0) throw invalid(errors)
}

async function faultOf(pattern: string, caller: App['caller']): Promise<string | null> {
  if (pattern === '') return null
  if (pattern.length > LONGEST_PATTERN) return tooLong(LONGEST_PATTERN)
  const reason = await patternFault(pattern, caller)
  return reason && `Regular expression '${pattern}' is invalid: ${reason}`
}
