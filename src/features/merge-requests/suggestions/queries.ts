import type { App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { Note } from '../../planning/notes/model.ts'
import type { Position } from '../../planning/notes/positions.ts'
import type { SuggestionRecord } from '../../planning/notes/suggestion-entity.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { Suggestion } from './model.ts'

/** Line numbers in the file, in the version that the note is on. */
export function coveredLines({ lines_above, lines_below }: Suggestion, { new_line }: Pick<Position, 'new_line'>) {
  const line = new_line ?? 0
  return { from: line - lines_above, to: line + lines_below }
}

export const isDifferent = ({ from_content, to_content }: Suggestion): boolean => from_content !== to_content

export function presentSuggestion(
  suggestion: Suggestion,
  position: Position,
  { state, head_sha }: Pick<MergeRequest, 'state' | 'head_sha'>,
): SuggestionRecord {
  const { from, to } = coveredLines(suggestion, position)
  const applied = suggestion.commit_sha !== null
  return {
    id: suggestion.id,
    from_line: from,
    to_line: to,
    appliable: !applied && state === 'opened' && position.head_sha === head_sha && isDifferent(suggestion),
    applied,
    from_content: suggestion.from_content,
    to_content: suggestion.to_content,
  }
}

export const findSuggestions = (db: Db, ids: readonly number[]): Promise<Suggestion[]> =>
  db
    .selectFrom('suggestions')
    .selectAll()
    .where(inIdList(db, 'id', idList(db, ids)))
    .orderBy('id')
    .execute()

/** By note id. */
export async function suggestionsOf(
  { db }: App,
  one: Pick<MergeRequest, 'state' | 'head_sha'>,
  notes: readonly Note[],
): Promise<Map<number, SuggestionRecord[]>> {
  const ids = notes.map(({ id }) => id)
  const rows = await db
    .selectFrom('suggestions')
    .selectAll()
    .where(inIdList(db, 'note_id', idList(db, ids)))
    .orderBy('id')
    .execute()
  const positions = new Map(notes.map(({ id, position }) => [id, position]))
  const found = new Map<number, SuggestionRecord[]>()
  for (const row of rows) {
    const position = JSON.parse(positions.get(row.note_id)!) as Position
    const record = presentSuggestion(row, position, one)
    found.set(row.note_id, [...(found.get(row.note_id) ?? []), record])
  }
  return found
}
