/** Issues of one project, and one in each of a thousand others, in the same proportions for any number. */
import { sql } from 'kysely'
import type { NewRow, Db } from '../src/store/database.ts'
import type {} from '../src/features/planning/award-emoji/model.ts'
import type {} from '../src/features/planning/issues/model.ts'
import type {} from '../src/features/planning/labels/model.ts'
import type {} from '../src/features/planning/milestones/model.ts'
import { isSqlite } from '../src/store/dialect.ts'
import { setAside } from './aside.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const ROWS_A_STATEMENT = 500
const LABELS = 10
const MILESTONES = 5
const OTHER_PROJECTS = 1000
/** The same number in a small project and in a large one. */
const RARE_ONES = 20
const PEOPLE = 50
/** A prime, so that dates correlate with nothing else. */
const DAYS = 907
/** Labels with a priority. */
const PRIORITIES = 3
const WEIGHTS = 7
/** Users 1 to 3 belong to the bench. */
const FIRST_PERSON = 4

export const CROWDED = 1
const MEMBER_ID = 2
export const RARE_EMOJI = 'owl'
export const RARE_LABEL = 'rare'
export const RARE_AUTHOR = FIRST_PERSON + PEOPLE

export async function seedIssues(db: Db, count: number): Promise<void> {
  const at = { created_at: daysAgo(100), updated_at: daysAgo(100) }
  const titles = [...Array.from({ length: LABELS }, (_, n) => `label${n}`), RARE_LABEL]
  await db
    .insertInto('labels')
    .values(
      titles.map((title) => ({
        project_id: CROWDED,
        group_id: null,
        title,
        color: '#428BCA',
        description: null,
        ...at,
      })),
    )
    .execute()
  const milestones = Array.from({ length: MILESTONES }, (_, n) => ({
    project_id: CROWDED,
    group_id: null,
    iid: n + 1,
    title: `milestone${n}`,
    description: null,
    start_date: null,
    due_date: n === 0 ? null : daysAgo(100 * n).slice(0, 10),
    ...at,
  }))
  await db.insertInto('milestones').values(milestones).execute()
  await insertAll(db, 'label_priorities', PRIORITIES, (n) => ({ project_id: CROWDED, label_id: n, priority: n }))
  await setAside(db, ['issues', 'issue_labels', 'issue_assignees', 'award_emoji'], async () => {
    await fill(db, count)
    await makeUp(db)
  })
}

async function fill(db: Db, count: number): Promise<void> {
  const at = { created_at: daysAgo(100), updated_at: daysAgo(100) }
  await insertAll(db, 'issues', count, (n) => issueRow(n, count))
  await insertAll(db, 'issue_labels', count, (n) => ({ issue_id: n, label_id: 1 + (n % LABELS) }))
  await insertAll(db, 'issue_assignees', count, (n) => ({ issue_id: n, user_id: FIRST_PERSON + (n % PEOPLE) }))
  await insertAll(db, 'issue_labels', RARE_ONES, (n) => ({ issue_id: rareOne(n, count), label_id: LABELS + 1 }))
  await insertAll(db, 'award_emoji', RARE_ONES, (n) => ({
    user_id: MEMBER_ID,
    name: RARE_EMOJI,
    issue_id: rareOne(n, count),
    note_id: null,
    ...at,
  }))
  await insertAll(db, 'issues', Math.min(OTHER_PROJECTS, count - 1), (n) => ({
    ...issueRow(n, count),
    id: count + n,
    project_id: CROWDED + n,
    iid: 1,
    milestone_id: null,
  }))
}

/** Computes what triggers would have maintained. */
async function makeUp(db: Db): Promise<void> {
  if (!isSqlite(db)) await sql`analyze`.execute(db)
  await sql`update issues set
    milestone_due = (select due_date from milestones m where m.id = issues.milestone_id),
    label_priority = (select min(q.priority) from issue_labels l join label_priorities q
      on q.label_id = l.label_id and q.project_id = issues.project_id where l.issue_id = issues.id)`.execute(db)
  await sql`insert into issues_facets (project_id, state, confidential, total)
    select project_id, state, confidential, count(*) from issues group by 1, 2, 3`.execute(db)
  await sql`insert into issue_labels_facets (label_id, project_id, state, confidential, total)
    select l.label_id, i.project_id, i.state, i.confidential, count(*)
    from issue_labels l join issues i on i.id = l.issue_id group by 1, 2, 3, 4`.execute(db)
  await sql`insert into iid_counters (project_id, kind, last)
    select project_id, 'issues', max(iid) from issues group by 1`.execute(db)
}

/** Spread over all rows. */
const rareOne = (n: number, count: number) => Math.floor((n * count) / RARE_ONES)

function issueRow(n: number, count: number): NewRow<'issues'> {
  const isRare = n % (count / RARE_ONES) === 0
  const when = daysAgo(1 + ((n * 7) % DAYS))
  return {
    id: n,
    project_id: CROWDED,
    iid: n,
    author_id: isRare ? RARE_AUTHOR : FIRST_PERSON + ((n * 3) % PEOPLE),
    title: `${isRare ? RARE : 'An engine'} that might compose ${n}`,
    description: `Elaborate pieces of music, for ${EVERYBODY}, of any degree of complexity or extent.`,
    state: n % 5 === 0 ? 'closed' : 'opened',
    confidential: n % 50 === 49,
    milestone_id: 1 + (n % MILESTONES),
    due_date: when.slice(0, 10),
    discussion_locked: null,
    weight: n % 3 === 0 ? n % WEIGHTS : null,
    relative_position: null,
    closed_at: null,
    closed_by_id: n % 5 === 0 ? FIRST_PERSON : null,
    moved_to_id: null,
    duplicated_to_id: null,
    created_at: when,
    updated_at: when,
  }
}

async function insertAll<T extends 'issues' | 'issue_labels' | 'issue_assignees' | 'label_priorities' | 'award_emoji'>(
  db: Db,
  table: T,
  count: number,
  rowOf: (n: number) => NewRow<T>,
): Promise<void> {
  for (let from = 1; from <= count; from += ROWS_A_STATEMENT) {
    const rows = Array.from({ length: Math.min(ROWS_A_STATEMENT, count + 1 - from) }, (_, n) => rowOf(from + n))
    await db
      .insertInto(table as 'issues')
      .values(rows as NewRow<'issues'>[])
      .execute()
  }
}
