import { z } from 'zod'
import { faultsOf, hasFaults, rule, type Faults } from '../../../api/rules.ts'
import { Refusal } from '../../../errors.ts'
import { descriptionRule, titleRule } from '../titles.ts'
import type { Milestone } from './model.ts'

export const TITLE_TAKEN = 'already being used for another group or project milestone.'

/** Clients expect the faults inside the message: `{:title=>["…"]}`. */
export function milestoneRefusal(verb: 'create' | 'update', faults: Faults): Refusal {
  const messages = Object.entries(faults).map(
    ([name, texts]) => `:${name}=>${JSON.stringify(texts).replaceAll('","', '", "')}`,
  )
  return new Refusal('bad_request', `Failed to ${verb} milestone {${messages.join(', ')}}`)
}

type Columns = Pick<Milestone, 'title' | 'description' | 'start_date' | 'due_date'>

const isInOrder = ({ start_date, due_date }: Pick<Columns, 'start_date' | 'due_date'>) =>
  !start_date || !due_date || start_date <= due_date

const milestoneRules = z
  .object({
    title: titleRule,
    description: descriptionRule.nullable(),
    start_date: z.string().nullable(),
    due_date: z.string().nullable(),
  })
  .check(rule(isInOrder, "Can't be greater than due date", { field: 'start_date' }))

export function assertValidMilestone(verb: 'create' | 'update', milestone: Columns): void {
  const faults = faultsOf(milestoneRules, milestone)
  if (hasFaults(faults)) throw milestoneRefusal(verb, faults)
}
