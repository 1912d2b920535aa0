/** Titles and descriptions of labels and milestones: titles have no markup. */

export const LONGEST_TITLE = 255
export const LONGEST_DESCRIPTION = 65_535

/** A tag cannot contain `<`, so the replacement takes linear time. */
export const cleanTitle = (text: string): string => text.replace(/<[a-z/!][^<>]*>/gi, '').trim()

export const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

/** Counts characters, some of which take two units of a string. */
export const isTooLong = (title: string): boolean =>
  title.length > 2 * LONGEST_TITLE || Array.from(title).length > LONGEST_TITLE

export function titleFaults(title: string): string[] {
  if (title === '') return ["can't be blank"]
  return isTooLong(title) ? [tooLong(LONGEST_TITLE)] : []
}
