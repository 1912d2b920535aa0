/** Parses the Range header of a request for a file: one piece, or nothing usable. */

export interface Piece {
  readonly start: number
  /** Inclusive. */
  readonly end: number
}

/** Null if the whole file must be sent: no header, several pieces, or an invalid range. */
export function readRange(header: string | undefined, size: number): Piece | 'unsatisfiable' | null {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? []
  if (from === '' && to === '') return null
  // Without a start, the number counts from the end.
  const start = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const end = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < start) return null
  return start > end ? 'unsatisfiable' : { start, end }
}
