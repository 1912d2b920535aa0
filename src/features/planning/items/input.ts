/** The input that all items take. */
import { z } from 'zod'
import { blankable, bool, int, listOf, oneOf, text } from '../../../api/wire.ts'
import { Refusal } from '../../../errors.ts'

/** 0 and an empty value mean no user. */
export const people = z.preprocess((value) => (value === '' || value === null ? [] : value), listOf(int)).optional()
const labels = z.preprocess((value) => (value === null ? [] : value), listOf(text)).optional()

export const planInput = {
  assignee_ids: people,
  assignee_id: blankable(int),
  milestone_id: blankable(int),
  labels,
}

export const changeInput = {
  ...planInput,
  add_labels: labels,
  remove_labels: labels,
  state_event: oneOf('close', 'reopen').optional(),
  discussion_locked: bool.nullish(),
}

/** The older `assignee_id` becomes a list of one. */
export function withAssignees<
  I extends { assignee_ids?: number[] | undefined; assignee_id?: number | null | undefined },
>({ assignee_id, ...input }: I) {
  const single = assignee_id === undefined ? undefined : assignee_id ? [assignee_id] : []
  return { ...input, assignee_ids: input.assignee_ids ?? single }
}

/** Rejects an update that changes nothing. */
export function assertAnyGiven(fields: object, input: { readonly [name: string]: unknown }): void {
  const names = Object.keys(fields)
  if (names.some((name) => input[name] !== undefined)) return
  const message = `${names.join(', ')} are missing, at least one parameter must be provided`
  throw new Refusal('bad_request', message, { as: 'both' })
}
