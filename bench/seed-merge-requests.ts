/** Merge requests of one project, and one in each of a thousand others, in the same proportions for any number. */
import { sql } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { addRows, fillStore, lit } from './filling.ts'
import { CROWDED, RARE_AUTHOR, RARE_EMOJI } from './seed-issues.ts'
import { moment } from './seed-tree.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const LABELS = 10
const MILESTONES = 5
const PEOPLE = 50
const FIRST_PERSON = 4
const MEMBER_ID = 2
const OTHER_PROJECTS = 1000
/** The same number in a small project and in a large one. */
const RARE_ONES = 20
const OVER_DAYS = 907
export const RARE_BRANCH = 'rare'
export const RARE_REVIEWER = FIRST_PERSON + PEOPLE + 1

export const seedMergeRequests = (url: string, count: number): Promise<void> => fillStore(url, (db) => fill(db, count))

async function fill(db: Db, count: number): Promise<void> {
  const every = count / RARE_ONES
  const isRare = sql`n % ${lit(every)} = 0`
  const person = (step: number) => sql`${lit(FIRST_PERSON)} + (n * ${lit(step)}) % ${lit(PEOPLE)}`
  const at = moment(daysAgo(OVER_DAYS), sql`(n * 7) % ${lit(OVER_DAYS)} * 86400`, db)
  const isMerged = sql`n % 5 = 0`
  const values = {
    id: sql`n`,
    project_id: lit(CROWDED),
    iid: sql`n`,
    source_project_id: lit(CROWDED),
    source_branch: sql`'branch' || n`,
    target_branch: sql`case when ${isRare} then ${lit(RARE_BRANCH)} else 'master' end`,
    author_id: sql`case when ${isRare} then ${lit(RARE_AUTHOR)} else ${person(3)} end`,
    title: sql`case when ${isRare} then ${lit(RARE)} else 'An engine' end || ' that might compose ' || n`,
    description: sql`${lit(`Elaborate pieces of music, for ${EVERYBODY}, of any degree of complexity or extent.`)}`,
    state: sql`case when ${isMerged} then 'merged' when n % 5 = 1 then 'closed' else 'opened' end`,
    draft: isRare,
    milestone_id: sql`1 + n % ${lit(MILESTONES)}`,
    merge_user_id: sql`case when ${isMerged} then ${person(3)} end`,
    merged_at: sql`case when ${isMerged} then ${at} end`,
    created_at: at,
    updated_at: at,
  }
  await addRows(db, 'merge_requests', count, values)
  await addRows(db, 'merge_requests', Math.min(OTHER_PROJECTS, count - 1), {
    ...values,
    id: sql`${lit(count)} + n`,
    project_id: sql`${lit(CROWDED)} + n`,
    iid: sql`1`,
    milestone_id: sql`cast(null as bigint)`,
  })
  const one = { merge_request_id: sql`n` }
  const rare = { merge_request_id: sql`n * ${lit(every)}` }
  await addRows(db, 'merge_request_labels', count, { ...one, label_id: sql`1 + n % ${lit(LABELS)}` })
  await addRows(db, 'merge_request_labels', RARE_ONES, { ...rare, label_id: lit(LABELS + 1) })
  await addRows(db, 'merge_request_assignees', count, { ...one, user_id: person(1) })
  await addRows(db, 'merge_request_reviewers', count, { ...one, user_id: person(7), created_at: at })
  await addRows(db, 'merge_request_reviewers', RARE_ONES, { ...rare, user_id: lit(RARE_REVIEWER), created_at: at })
  await addRows(db, 'merge_request_approvals', count, { ...one, user_id: person(7), created_at: at })
  const name = sql`${lit(RARE_EMOJI)}`
  await addRows(db, 'award_emoji', RARE_ONES, {
    ...rare,
    user_id: lit(MEMBER_ID),
    name,
    created_at: at,
    updated_at: at,
  })
}
