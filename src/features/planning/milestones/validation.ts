import { Refusal } from '../../../errors.ts'
import { LONGEST_DESCRIPTION, titleFaults, tooLong } from '../titles.ts'
import type { Milestone } from './model.ts'

export type MilestoneFaults = Partial<Record<'title' | 'description' | 'start_date', string[]>>

export const TITLE_TAKEN = 'already being used for another group or project milestone.'

/** Clients expect the faults inside the message: `{:title=>["can't be blank"]}`. */
export function milestoneRefusal(verb: 'create' | 'update', faults: MilestoneFaults): Refusal {
  const told = Object.entries(faults).map(
    ([name, texts]) => `:${name}=>${JSON.stringify(texts).replaceAll('","', '", "')}`,
  )
  return new Refusal('bad_request', `Failed to ${verb} milestone {${told.join(', ')}}`)
}

type Columns = Pick<Milestone, 'title' | 'description' | 'start_date' | 'due_date'>

export function assertValidMilestone(verb: 'create' | 'update', milestone: Columns): void {
  const { title, description, start_date, due_date } = milestone
  const ofTitle = titleFaults(title)
  const faults: MilestoneFaults = {
    ...(ofTitle.length > 0 && { title: ofTitle }),
    ...(description && description.length > LONGEST_DESCRIPTION && { description: [tooLong(LONGEST_DESCRIPTION)] }),
    ...(start_date && due_date && start_date > due_date && { start_date: ["Can't be greater than due date"] }),
  }
  if (Object.keys(faults).length > 0) throw milestoneRefusal(verb, faults)
}
