/** Issues as they stand in the store, for tests of what counts and names them. */
import type { TestForge } from '../src/forge.ts'
import { timestamp } from '../src/clock.ts'

interface IssueWish {
  author_id?: number
  labels?: readonly number[]
  milestone_id?: number
  state?: 'opened' | 'closed'
  confidential?: boolean
}

let planted = 0

/** Its id. */
export async function plantIssue(
  { app, clock, administrator }: TestForge,
  project_id: number,
  { labels = [], ...wish }: IssueWish = {},
): Promise<number> {
  const now = timestamp(clock)
  const iid = ++planted
  const { id: issue_id } = await app.db
    .insertInto('issues')
    .values({
      project_id,
      iid,
      title: `Issue ${iid}`,
      author_id: administrator.id,
      created_at: now,
      updated_at: now,
      ...wish,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  for (const label_id of labels) await app.db.insertInto('issue_labels').values({ issue_id, label_id }).execute()
  return issue_id
}
