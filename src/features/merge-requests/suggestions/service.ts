import { suggestionsIn } from './parsing.ts'
import type { StoredPosition } from '../../planning/notes/positions.ts'
import type { Settle } from '../../planning/notes/noteable.ts'
import { linesAt, textBetween } from './files.ts'

/** The maximum length of all text that the suggestions of a note replace. Above it, the note gets no suggestions. */
const MOST_REPLACED = 256 * 1024

/**
 * The suggestions in a note on a line of the new side. They are stored with the note, unless one was already applied.
 */
export async function heedSuggestions(
  dir: string,
  text: string,
  position: StoredPosition | null,
): Promise<Settle | undefined> {
  const line = position?.position.new_line
  if (!position || !line || position.position.position_type !== 'text') return undefined
  const { head_sha, new_path } = position.position
  const suggested = suggestionsIn(text)
  const lines = suggested.length > 0 ? await linesAt(dir, head_sha, new_path ?? '') : null
  let replaced = 0
  const rows = suggested.flatMap(({ above, below, content }) => {
    if (!lines || line > lines.length) return []
    const [from, to] = [Math.max(1, line - above), Math.min(lines.length, line + below)]
    const from_content = textBetween(lines, from, to)
    if (replaced + from_content.length > MOST_REPLACED) return []
    replaced += from_content.length
    return [{ lines_above: line - from, lines_below: to - line, from_content, to_content: content, commit_sha: null }]
  })
  return ({ db }, { id }) => keep(db, id, rows)
}

type Stored = Parameters<Settle>[0]['db']

async function keep(db: Stored, note_id: number, rows: readonly Row[]): Promise<void> {
  const own = db.selectFrom('suggestions').select('id').where('note_id', '=', note_id)
  if (await own.where('commit_sha', 'is not', null).limit(1).executeTakeFirst()) return
  await db.deleteFrom('suggestions').where('note_id', '=', note_id).execute()
  if (rows.length > 0)
    await db
      .insertInto('suggestions')
      .values(rows.map((row) => ({ ...row, note_id })))
      .execute()
}

interface Row {
  readonly lines_above: number
  readonly lines_below: number
  readonly from_content: string
  readonly to_content: string
  readonly commit_sha: null
}
