import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

/** Copies the references behind copied notes, so that the copies have the same visibility. */
export async function copyReferenceNotes(
  { db }: App,
  notes: ReadonlyMap<number, number>,
  to: { readonly issue_id: number; readonly project_id: number },
): Promise<void> {
  if (notes.size === 0) return
  const stored = await db
    .selectFrom('text_references')
    .selectAll()
    .where(inIdList(db, 'note_id', idList(db, [...notes.keys()])))
    .execute()
  if (stored.length === 0) return
  const rows = stored.map(({ id: _id, ...row }) => ({
    ...row,
    target_issue_id: to.issue_id,
    target_project_id: to.project_id,
    note_id: notes.get(row.note_id!)!,
  }))
  await db.insertInto('text_references').values(rows).execute()
}

/** Copies the mentions in notes. Mentioned users participate in the issue. */
export async function copyMentions(
  { db }: App,
  notes: ReadonlyMap<number, number>,
  to: { readonly issue_id: number; readonly project_id: number },
): Promise<void> {
  if (notes.size === 0) return
  for (const table of ['text_mentions', 'text_group_mentions'] as const) {
    const named = await db
      .selectFrom(table as 'text_mentions')
      .selectAll()
      .where(inIdList(db, 'source_note_id', idList(db, [...notes.keys()])))
      .execute()
    const rows = named.map(({ id: _id, ...row }) => ({
      ...row,
      source_issue_id: to.issue_id,
      source_project_id: to.project_id,
      source_note_id: notes.get(row.source_note_id!)!,
    }))
    if (rows.length > 0)
      await db
        .insertInto(table as 'text_mentions')
        .values(rows)
        .execute()
  }
}
