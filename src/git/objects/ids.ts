/** Full object ids in SHA-1 repositories. */

export const isObjectId = (text: string): boolean => /^[0-9a-f]{40}$/.test(text)

/** For ids in objects and commands. Anything else is a bug in this server. */
export function checkedId(id: string): string {
  if (!isObjectId(id)) throw new TypeError('not an object id')
  return id
}
