import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { findItems } from '../items/queries.ts'
import { itemIn, itemKinds } from '../items/registry.ts'
import { milestonesOf } from '../milestones/queries.ts'
import { presentEvent } from './entity.ts'
import type { Activity } from './model.ts'

/** The records of a page, in a fixed number of queries. */
export async function presentEvents(app: App, page: readonly Activity[]) {
  const { db } = app
  const noteIds = [...new Set(page.flatMap(({ note_id }) => note_id ?? []))]
  await assertSmallRows(db, 'notes', 'body', noteIds)
  const [around, people, items, milestones, notes] = await Promise.all([
    surroundings(app),
    withUsers(db, page, { author: 'author_id' }),
    Promise.all(
      itemKinds().map(async (kind) => {
        const ids = page.flatMap((one) => one[kind.column] ?? [])
        return (await findItems(db, kind, ids)).map((item) => ({ ...item, type: kind.type }))
      }),
    ),
    milestonesOf(
      db,
      page.map(({ milestone_id }) => milestone_id),
    ),
    db
      .selectFrom('notes')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, noteIds)))
      .execute(),
  ])
  const snippets = await db
    .selectFrom('snippets')
    .select(['id', 'title'])
    .where(inIdList(db, 'id', idList(db, [...new Set(notes.flatMap(({ snippet_id }) => snippet_id ?? []))])))
    .execute()
  const written = await withUsers(db, notes, { author: 'author_id' })
  const byId = <R extends { readonly id: number }>(rows: readonly R[]) => new Map(rows.map((row) => [row.id, row]))
  const [noteOf, snippetOf] = [byId(written), byId(snippets)]
  return people.map((activity) => {
    const named = itemIn(activity)
    const note = noteOf.get(activity.note_id ?? 0)
    return presentEvent(
      {
        ...activity,
        item: items.flat().find(({ id, type }) => id === named?.id && type === named.kind.type),
        milestone: milestones.get(activity.milestone_id ?? 0),
        note,
        snippet: snippetOf.get(note?.snippet_id ?? 0),
      },
      around,
    )
  })
}
