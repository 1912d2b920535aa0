import { z } from 'zod'
import {
  assertRules,
  faultsBy,
  faultsOf,
  filled,
  limited,
  rule,
  rulesOf,
  upTo,
  type Faults,
} from '../../../api/rules.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import { isReservedForProject, projectPathFaults } from '../../../lib/files/paths.ts'
import { tooLong } from '../../../lib/text/faults.ts'

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

const SHORTEST_BUILD = 600
const LONGEST_BUILD = 2_629_746
const DEEPEST_CLONE = 1000

const projectRules = rulesOf({
  name: filled(z.string(), 255).check(rule((value) => NAME.test(value), NAME_TEXT)),
  path: filled(z.string(), 255).check(
    faultsBy(projectPathFaults),
    rule(
      (value) => !isReservedForProject(value),
      (value) => `${value} is a reserved name`,
    ),
  ),
  description: limited(z.string(), 2000),
  default_branch: z.string().check(rule(isBranchName, 'is invalid')),
  ci_config_path: limited(z.string(), 255).check(
    rule((value) => !value.includes('..'), 'cannot include directory traversal.'),
  ),
  approvals_before_merge: upTo(LARGEST_INTEGER),
  suggestion_commit_message: limited(z.string(), 255),
  merge_commit_template: limited(z.string(), 500),
  squash_commit_template: limited(z.string(), 500),
  build_timeout: z
    .number()
    .check(
      rule((value) => value >= SHORTEST_BUILD && value < LONGEST_BUILD, 'needs to be between 10 minutes and 1 month'),
    ),
  ci_default_git_depth: upTo(DEEPEST_CLONE),
  tag_list: z.array(z.string()).check(
    rule((topics) => topics.length <= MOST_TOPICS, tooLong(MOST_TOPICS, 'topics'), { last: true }),
    rule((topics) => topics.every((topic) => topic.length <= 255), tooLong(255)),
  ),
})

/** All errors of all given attributes. */
export const projectFaults = (attributes: ProjectAttributes): Faults => faultsOf(projectRules, attributes)

export const assertValidProject = (attributes: ProjectAttributes): void => assertRules(projectRules, attributes)
