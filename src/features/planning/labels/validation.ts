import { invalid, type FieldErrors } from '../../../errors.ts'
import { LONGEST_DESCRIPTION, titleFaults, tooLong } from '../titles.ts'
import { toColor } from './colors.ts'

/** No commas: lists of titles are separated by commas. */
export const labelTitleFaults = (title: string): string[] => (title.includes(',') ? ['is invalid'] : titleFaults(title))

interface LabelColumns {
  title?: string
  color?: string
  description?: string | null
}

/** Validates the given fields. Returns the colour in its stored form. */
export function assertValidLabel<L extends LabelColumns>(label: L): L {
  const { title, color, description } = label
  const faults: FieldErrors = {}
  const ofTitle = title === undefined ? [] : labelTitleFaults(title)
  if (ofTitle.length > 0) faults.title = ofTitle
  const kept = color === undefined ? undefined : toColor(color)
  if (kept === null) faults.color = ['must be a valid color code']
  if (description && description.length > LONGEST_DESCRIPTION) faults.description = [tooLong(LONGEST_DESCRIPTION)]
  if (Object.keys(faults).length > 0) throw invalid(faults)
  return kept ? { ...label, color: kept } : label
}
