/** What the operating system refuses by: errors that carry a code, such as ENOENT. */

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '')

/** `await readFile(path).catch(nullIfMissing)`. What stands below a file instead of a folder is missing, too. */
export function nullIfMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}
