/** What the operating system refuses by: errors that carry a code, such as ENOENT. */

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '')

/** The operating system's own, be it of a file or of a connection. */
export const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** `await readFile(path).catch(nullIfMissing)`. What stands below a file instead of a folder is missing, too. */
export function nullIfMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}

/** No room, or none left of one's share of it. Git tells so in words only, which its failure quotes. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isFull = hasCode(error, 'ENOSPC', 'EDQUOT') || /No space left on device|Disk quota exceeded/.test(error.message)
  return isFull || isDiskFull(error.cause)
}
