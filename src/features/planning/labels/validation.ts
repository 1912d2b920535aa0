import { z } from 'zod'
import { faultsIn, rule, rulesOf, assertRules } from '../../../api/rules.ts'
import { descriptionRule, titleRule } from '../titles.ts'
import { toColor } from './colors.ts'

/** No commas: lists of titles are separated by commas. */
const title = z
  .string()
  .check(rule((value) => !value.includes(','), 'is invalid', { last: true }))
  .pipe(titleRule)

export const labelTitleFaults = (value: string): string[] => faultsIn(title, value)

const labelRules = rulesOf({
  title,
  color: z.string().check(rule((value) => toColor(value) !== null, 'must be a valid color code')),
  description: descriptionRule,
})

interface LabelColumns {
  title?: string
  color?: string
  description?: string | null
}

/** Validates the given fields. Returns the colour in its stored form. */
export function assertValidLabel<L extends LabelColumns>(label: L): L {
  assertRules(labelRules, label)
  return label.color === undefined ? label : { ...label, color: toColor(label.color) }
}
