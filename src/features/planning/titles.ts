/** Titles of labels and milestones: text on one line, without markup. */

export const LONGEST_TITLE = 255

/** A tag ends before the next one begins, so that this takes time in proportion to the text. */
export const cleanTitle = (text: string): string => text.replace(/<[a-z/!][^<>]*>/gi, '').trim()

export const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

export function titleFaults(title: string): string[] {
  if (title === '') return ["can't be blank"]
  return title.length > LONGEST_TITLE ? [tooLong(LONGEST_TITLE)] : []
}
