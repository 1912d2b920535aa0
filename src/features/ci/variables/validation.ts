import { z } from 'zod'
import { assertRules, limited, rule, rulesOf } from '../../../api/rules.ts'
import { BLANK } from '../../../lib/text/faults.ts'

const LONGEST = 255
const LONGEST_VALUE = 10_000
const KEY = /^\w+$/
const SCOPE = /^[\w/${}. *-]+$/
const MASKABLE = /^[a-zA-Z0-9_+=/@:.~-]{8,}$/
/** A raw value is not expanded. It may contain any non-space characters, if it is long enough to recognize in a log. */
const MASKABLE_RAW = /^\S{8,}$/

const isGiven = rule<string>((text) => text !== '', BLANK, { last: true })
const key = limited(z.string().check(isGiven), LONGEST, { last: true }).check(
  rule((value) => KEY.test(value), "can contain only letters, digits and '_'."),
)
const value = limited(z.string(), LONGEST_VALUE, { last: true }).check(
  rule((text) => !text.includes('\0'), 'is invalid'),
)
const scope = limited(z.string(), LONGEST, { last: true }).check(
  rule(
    (text) => SCOPE.test(text),
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces",
  ),
)

/** Of a pipeline schedule. */
export const plainVariableRules = rulesOf({ key, value })

interface Proposed {
  readonly key: string
  readonly value: string
  readonly masked: boolean
  readonly raw: boolean
  readonly environment_scope: string
  readonly description: string | null
}

const isMaskable = ({ value, masked, raw }: Pick<Proposed, 'value' | 'masked' | 'raw'>) =>
  !masked || (raw ? MASKABLE_RAW : MASKABLE).test(value)

const variableRules = z
  .object({
    key,
    value,
    masked: z.boolean(),
    raw: z.boolean(),
    environment_scope: scope,
    description: limited(z.string(), LONGEST).nullable(),
  })
  .check(rule(isMaskable, 'is invalid', { field: 'value' }))

export const assertValidVariable = (variable: Proposed): void => assertRules(variableRules, variable)
