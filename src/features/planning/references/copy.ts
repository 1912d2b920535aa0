import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

/** Notes that tell of a text were copied to another issue: the copies are for whoever sees that text, too. */
export async function copyTold(
  { db }: App,
  notes: ReadonlyMap<number, number>,
  to: { readonly issue_id: number; readonly project_id: number },
): Promise<void> {
  if (notes.size === 0) return
  const told = await db
    .selectFrom('text_references')
    .selectAll()
    .where(inIdList(db, 'note_id', idList(db, [...notes.keys()])))
    .execute()
  if (told.length === 0) return
  const rows = told.map(({ id: _id, ...row }) => ({
    ...row,
    target_issue_id: to.issue_id,
    target_project_id: to.project_id,
    note_id: notes.get(row.note_id!)!,
  }))
  await db.insertInto('text_references').values(rows).execute()
}
