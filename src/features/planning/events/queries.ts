import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { assertSmallRows } from '../../../store/pages.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { findIssues } from '../issues/queries.ts'
import { findMergeRequestRows } from '../merge-requests.ts'
import { milestonesOf } from '../milestones/queries.ts'
import { presentEvent } from './entity.ts'
import type { Activity } from './model.ts'

/** The records of a page, in a fixed number of queries. */
export async function presentEvents(app: App, page: readonly Activity[]) {
  const { db } = app
  const idsOf = (column: 'issue_id' | 'merge_request_id' | 'note_id') => [
    ...new Set(page.flatMap((one) => one[column] ?? [])),
  ]
  await assertSmallRows(db, 'issues', 'description', idsOf('issue_id'))
  await assertSmallRows(db, 'merge_requests', 'description', idsOf('merge_request_id'))
  await assertSmallRows(db, 'notes', 'body', idsOf('note_id'))
  const [around, people, issues, requests, milestones, notes] = await Promise.all([
    surroundings(app),
    withUsers(db, page, { author: 'author_id' }),
    findIssues(db, idsOf('issue_id')),
    findMergeRequestRows(db, idsOf('merge_request_id')),
    milestonesOf(
      db,
      page.map(({ milestone_id }) => milestone_id),
    ),
    db
      .selectFrom('notes')
      .selectAll()
      .where(inIdList(db, 'id', idList(db, idsOf('note_id'))))
      .execute(),
  ])
  const snippets = await db
    .selectFrom('snippets')
    .select(['id', 'title'])
    .where(inIdList(db, 'id', idList(db, [...new Set(notes.flatMap(({ snippet_id }) => snippet_id ?? []))])))
    .execute()
  const written = await withUsers(db, notes, { author: 'author_id' })
  const byId = <R extends { readonly id: number }>(rows: readonly R[]) => new Map(rows.map((row) => [row.id, row]))
  const [issueOf, requestOf, noteOf, snippetOf] = [byId(issues), byId(requests), byId(written), byId(snippets)]
  return people.map((activity) => {
    const note = noteOf.get(activity.note_id ?? 0)
    return presentEvent(
      {
        ...activity,
        issue: issueOf.get(activity.issue_id ?? 0),
        mergeRequest: requestOf.get(activity.merge_request_id ?? 0),
        milestone: milestones.get(activity.milestone_id ?? 0),
        note,
        snippet: snippetOf.get(note?.snippet_id ?? 0),
      },
      around,
    )
  })
}
