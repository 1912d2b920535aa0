/** Filters of issue lists, under the parameter names of all API versions. */
import type { z } from 'zod'
import { blankable, bool, id, oneOf } from '../../../api/wire.ts'
import type { App, User } from '../../../context.ts'
import type { NoneOrAny, PlannedFilter } from '../items/conditions.ts'
import { idNoneOrAny, plannedFrom, plannedInput } from '../items/filter.ts'
import { ISSUE_TYPES } from './model.ts'

export interface IssueFilter extends PlannedFilter {
  state?: 'opened' | 'closed' | 'all' | null | undefined
  confidential?: boolean | null | undefined
  due_date?: (typeof DUE)[number] | null | undefined
  issue_type?: string | null | undefined
  closed_by_id?: number | null | undefined
  weight?: NoneOrAny<number> | null | undefined
}

const DUE = ['0', 'any', 'today', 'tomorrow', 'overdue', 'week', 'month', 'next_month_and_previous_two_weeks'] as const

export const filterInput = {
  ...plannedInput,
  state: oneOf('opened', 'closed', 'all').nullish(),
  confidential: bool.nullish(),
  due_date: oneOf(...DUE).nullish(),
  issue_type: oneOf(...ISSUE_TYPES).nullish(),
  closed_by_id: id.nullish(),
  weight: blankable(idNoneOrAny),
}

type Input = z.infer<z.ZodObject<typeof filterInput>>

export async function filterFrom(app: App, viewer: User | null, given: Input): Promise<IssueFilter> {
  const { state, confidential, due_date, issue_type, closed_by_id, weight } = given
  const planned = await plannedFrom(app, viewer, given)
  return { ...planned, state, confidential, due_date, issue_type, closed_by_id, weight }
}
