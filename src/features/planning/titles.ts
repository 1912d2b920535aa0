/** Titles of labels and milestones, text without markup, and what is said of them. */

export const LONGEST_TITLE = 255
export const LONGEST_DESCRIPTION = 65_535

/** A tag ends before the next one begins, so that this takes time in proportion to the text. */
export const cleanTitle = (text: string): string => text.replace(/<[a-z/!][^<>]*>/gi, '').trim()

export const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

/** In characters, of which some take two units of a string. */
export const isTooLong = (title: string): boolean =>
  title.length > 2 * LONGEST_TITLE || Array.from(title).length > LONGEST_TITLE

export function titleFaults(title: string): string[] {
  if (title === '') return ["can't be blank"]
  return isTooLong(title) ? [tooLong(LONGEST_TITLE)] : []
}
