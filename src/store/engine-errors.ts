/** Classifies database errors by their codes, without loading a database driver. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** `undefined_table`; SQLite has no code for it. */
export const isMissingTable = (error: unknown): boolean =>
  codeOf(error) === '42P01' ||
  (codeOf(error) === 'SQLITE_ERROR' && (error as Error).message.startsWith('no such table'))

/** `data_corrupted`, `index_corrupted`, and SQLite's codes for a damaged file. */
export const isDamaged = (error: unknown): boolean =>
  /^(XX00[12]|SQLITE_(CORRUPT|NOTADB|IOERR)(_\w+)?)$/.test(codeOf(error))

/** The message if the state of the database is the cause; null if the error is ours. */
export function damageOf(error: unknown): string | null {
  return isDamaged(error) || isMissingTable(error) ? (error as Error).message : null
}
