/** What engines say of themselves, by their codes; no engine is loaded to ask. */

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

/** `undefined_table`; SQLite has no code of its own for it. */
export const isMissingTable = (error: unknown): boolean =>
  codeOf(error) === '42P01' ||
  (codeOf(error) === 'SQLITE_ERROR' && (error as Error).message.startsWith('no such table'))

/** `data_corrupted`, `index_corrupted`, and what SQLite says of a file that is not whole. */
export const isDamaged = (error: unknown): boolean =>
  /^(XX00[12]|SQLITE_(CORRUPT|NOTADB|IOERR)(_\w+)?)$/.test(codeOf(error))

/** Its own state keeps the engine from answering; null: the fault is ours. */
export function damageOf(error: unknown): string | null {
  return isDamaged(error) || isMissingTable(error) ? (error as Error).message : null
}
