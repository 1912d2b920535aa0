/** Whole ids of objects, in repositories of SHA-1. */

export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** For what is written into objects and commands: anything else is a mistake of ours. */
export function checkedId(id: string): string {
  if (!isObjectId(id)) throw new TypeError('not an object id')
  return id
}
