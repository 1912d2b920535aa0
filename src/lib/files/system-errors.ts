/** Errors of the operating system, which have a code such as ENOENT. */

export const hasCode = (error: unknown, ...codes: string[]): boolean =>
  codes.includes((error as NodeJS.ErrnoException).code ?? '')

/** Any error of the operating system, for a file or a connection. */
export const isSystemError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

/** `await readFile(path).catch(nullIfMissing)`. A path below a file instead of a folder counts as missing too. */
export function nullIfMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null
  throw error
}

/** The disk or the quota is full. Git reports it only as text, which its error quotes. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const isFull = hasCode(error, 'ENOSPC', 'EDQUOT') || /No space left on device|Disk quota exceeded/.test(error.message)
  return isFull || isDiskFull(error.cause)
}
