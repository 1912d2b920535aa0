import { invalid, type FieldErrors } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { isReservedForProject, projectPathFaults } from '../../../lib/files/paths.ts'

/** Attributes of a project for create and update. Absent ones are not validated. */
export interface ProjectAttributes {
  name?: string | undefined
  path?: string | undefined
  description?: string | null | undefined
  default_branch?: string | null | undefined
  ci_config_path?: string | null | undefined
  approvals_before_merge?: number | null | undefined
  suggestion_commit_message?: string | null | undefined
  merge_commit_template?: string | null | undefined
  squash_commit_template?: string | null | undefined
  build_timeout?: number | null | undefined
  ci_default_git_depth?: number | null | undefined
  tag_list?: string[] | null | undefined
}

const WORD = '\\p{L}\\p{M}\\p{N}\\p{Extended_Pictographic}\\p{Regional_Indicator}\\p{Emoji_Modifier}\\u200d\\ufe0f_'
const NAME = new RegExp(`^[${WORD}][${WORD}. -]*$`, 'u')
const NAME_TEXT =
  "can contain only letters, digits, emojis, '_', '.', dash, space. It must start with letter, digit, emoji or '_'."
const LARGEST_INTEGER = 2_147_483_647
const MOST_TOPICS = 100

const atMost = (length: number) => (value: string) =>
  value.length > length ? [`is too long (maximum is ${length} characters)`] : []

function nameFaults(value: string): string[] {
  if (value.trim() === '') return ["can't be blank"]
  return [...atMost(255)(value), ...(NAME.test(value) ? [] : [NAME_TEXT])]
}

function pathFaults(value: string): string[] {
  if (value.trim() === '') return ["can't be blank"]
  const faults = [...atMost(255)(value), ...projectPathFaults(value)]
  return isReservedForProject(value) ? [...faults, `${value} is a reserved name`] : faults
}

const upTo = (most: number) => (value: number) => {
  if (value < 0) return ['must be greater than or equal to 0']
  return value > most ? [`must be less than or equal to ${most}`] : []
}

const SHORTEST_BUILD = 600
const LONGEST_BUILD = 2_629_746
const DEEPEST_CLONE = 1000

function topicFaults(topics: string[]): string[] {
  if (topics.length > MOST_TOPICS) return [`is too long (maximum is ${MOST_TOPICS} topics)`]
  return topics.some((topic) => topic.length > 255) ? ['is too long (maximum is 255 characters)'] : []
}

const rules: { [K in keyof ProjectAttributes]-?: (value: NonNullable<ProjectAttributes[K]>) => string[] } = {
  name: nameFaults,
  path: pathFaults,
  description: atMost(2000),
  default_branch: (value) => (isBranchName(value) ? [] : ['is invalid']),
  ci_config_path: (value) => [
    ...atMost(255)(value),
    ...(value.includes('..') ? ['cannot include directory traversal.'] : []),
  ],
  approvals_before_merge: upTo(LARGEST_INTEGER),
  suggestion_commit_message: atMost(255),
  merge_commit_template: atMost(500),
  squash_commit_template: atMost(500),
  build_timeout: (value) =>
    value < SHORTEST_BUILD || value >= LONGEST_BUILD ? ['needs to be between 10 minutes and 1 month'] : [],
  ci_default_git_depth: upTo(DEEPEST_CLONE),
  tag_list: topicFaults,
}

/** All errors of all given attributes. */
export function projectFaults(attributes: ProjectAttributes): FieldErrors {
  const faults: FieldErrors = {}
  for (const [name, rule] of Object.entries(rules)) {
    const value = attributes[name as keyof ProjectAttributes]
    if (value === undefined || value === null) continue
    const found = (rule as (value: unknown) => string[])(value)
    if (found.length > 0) faults[name] = found
  }
  return faults
}

export function assertValidProject(attributes: ProjectAttributes): void {
  const faults = projectFaults(attributes)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}
