import { z } from 'zod'
import { assertRules, filled, limited, rule, rulesOf, upTo } from '../../../api/rules.ts'
import { PATH_FORMAT_TEXT, isPath, isReservedAtTop, isReservedForSubgroup } from '../../../lib/files/paths.ts'

/** Attributes of a group for create and update; absent attributes are not checked. */
export interface GroupAttributes {
  name?: string | null | undefined
  path?: string | null | undefined
  description?: string | null | undefined
  shared_runners_minutes_limit?: number | null | undefined
  two_factor_grace_period?: number | null | undefined
}

const NAME = /^[\p{L}\p{M}\p{Nd}\p{Pd}_. ]*$/u
const NAME_TEXT = "can contain only letters, digits, '_', '.', dash and space."
const LARGEST_INTEGER = 2_147_483_647

const rulesWith = (isReserved: (path: string) => boolean) =>
  rulesOf({
    name: filled(z.string(), 255).check(rule((value) => NAME.test(value), NAME_TEXT)),
    path: filled(z.string(), 255).check(
      rule(isPath, PATH_FORMAT_TEXT),
      rule(
        (value) => !isReserved(value),
        (value) => `${value} is a reserved name`,
      ),
    ),
    description: limited(z.string(), 255),
    shared_runners_minutes_limit: upTo(LARGEST_INTEGER),
    two_factor_grace_period: upTo(LARGEST_INTEGER),
  })

const rootRules = rulesWith(isReservedAtTop)
const subgroupRules = rulesWith(isReservedForSubgroup)

/** Throws with all errors of all given attributes. */
export const assertValidGroup = (attributes: GroupAttributes, { isRoot }: { isRoot: boolean }): void =>
  assertRules(isRoot ? rootRules : subgroupRules, attributes)
