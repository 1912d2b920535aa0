/**
 * Notes and events for the issues of a seeded store: ten notes and ten events for each, in the same proportions for any
 * number, and one issue that everybody discusses. Rows are inserted by single statements, without triggers and indexes;
 * the data of triggers is computed at the end.
 */
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { isSqlite } from '../src/store/dialect.ts'
import { setAside } from './aside.ts'
import { addRows, fillStore } from './filling.ts'
import { CROWDED } from './seed-issues.ts'
import { moment } from './seed-tree.ts'
import { EVERYBODY, RARE, daysAgo } from './seed-values.ts'

const NOTES_AN_ISSUE = 10
const PEOPLE = 50
/** Users 1 to 3 belong to the bench. */
const FIRST_PERSON = 4
const MEMBER = 2
const OVER_DAYS = 900
/** The same number in a small project and in a large one. */
const RARE_ONES = 20

/** An issue with many notes, reactions and changes: the same number for any number of issues. */
export const DISCUSSED = 11
const NOTES_THERE = 5000
const REACTIONS_THERE = 400
const CHANGES_THERE = 1000
/** Two for each of a thousand projects. */
const PUSHES_ELSEWHERE = 2000
/** As many as a search counts. */
const MILESTONES_THERE = 1000
/** At least as many as a search counts at most. */
const FEWEST_SNIPPETS = 3000

/** Words of every note, in this order. */
export const PHRASE = 'elaborate pieces'
export const seedPlanning = (url: string, issues: number): Promise<void> =>
  fillStore(url, async (db) => {
    await setAside(db, TABLES, () => fill(db, issues))
    await setAside(db, ['issues'], () => makeUp(db))
  })

const TABLES = [
  'notes',
  'activities',
  'award_emoji',
  'todos',
  'labels',
  'issue_labels',
  'milestones',
  'snippets',
  'snippet_files',
  'resource_label_events',
  'resource_state_events',
  'resource_milestone_events',
  'text_mentions',
]

async function fill(db: Db, issues: number): Promise<void> {
  const notes = issues * NOTES_AN_ISSUE
  const person = (n: RawBuilder<unknown>) => sql`${sql.lit(FIRST_PERSON)} + (${n}) % ${sql.lit(PEOPLE)}`
  const rare = (n: RawBuilder<unknown>, of: number) =>
    sql`case when ${n} % ${sql.lit(of / RARE_ONES)} = ${sql.lit(7 % (of / RARE_ONES))} then '${sql.raw(RARE)}' else 'engine' end`
  const n = sql`n`
  const crowded = sql.lit(CROWDED)
  /** Number of labels: enough for a page of a small project. */
  const labels = Math.max(RARE_ONES, issues / 100)
  // In chronological order: few rows cover the same days as many.
  const happened = (rows: number) => moment(daysAgo(OVER_DAYS), sql`n * ${sql.lit((OVER_DAYS * 86_400) / rows)}`, db)
  const times = (rows: number) => ({ created_at: happened(rows), updated_at: happened(rows) })

  // The notes of an issue lie far apart, as they do when many issues are discussed at once.
  const nth = sql`(n - 1) / ${sql.lit(issues)}`
  const isSystem = sql`${nth} in (1, 4, 7)`
  await addRows(db, 'notes', notes, {
    id: n,
    project_id: crowded,
    issue_id: sql`1 + (n - 1) % ${sql.lit(issues)}`,
    discussion_id: hex(
      db,
      sql`(1 + (n - 1) % ${sql.lit(issues)}) * 16 + case ${nth} when 3 then 2 when 6 then 5 else ${nth} end`,
    ),
    type: sql`case when ${nth} in (2, 3, 5, 6) then 'DiscussionNote' end`,
    author_id: person(sql`n * 3`),
    body: sql`case when ${isSystem} then 'changed the description' else
      'An ' || ${rare(n, notes)} || ' of ${sql.raw(EVERYBODY)} might compose ${sql.raw(PHRASE)} of music, number ' || n end`,
    system: isSystem,
    action: sql`case when ${isSystem} then 'description' end`,
    internal: sql`n % 40 = 0 and not ${isSystem}`,
    ...times(notes),
  })
  const more = sql`n + ${sql.lit(notes)}`
  const noteRow = {
    id: more,
    project_id: crowded,
    author_id: person(n),
    body: sql`'Scientific operations, number ' || n`,
    ...times(NOTES_THERE),
  }
  await addRows(db, 'notes', NOTES_THERE, {
    ...noteRow,
    issue_id: sql.lit(DISCUSSED),
    discussion_id: hex(db, sql`${sql.lit(issues * 32)} + n / 2`),
    type: sql`'DiscussionNote'`,
    system: sql`n % 10 = 0`,
    action: sql`case when n % 10 = 0 then 'description' end`,
    internal: sql`n % 40 = 3`,
  })
  // The number of pushes to other projects does not depend on the number of issues.
  const nthElsewhere = sql.lit(notes / PUSHES_ELSEWHERE)
  const isElsewhere = sql`n % ${nthElsewhere} = 1`
  const kind = sql`case when ${isElsewhere} then 0 else n % 10 end`
  await addRows(db, 'activities', notes, {
    project_id: sql`case when ${isElsewhere} then 1 + (n / ${nthElsewhere}) % ${sql.lit(PUSHES_ELSEWHERE / 2)} else ${crowded} end`,
    author_id: sql`case when n % 50 = 8 then ${sql.lit(MEMBER)} else ${person(sql`n / 9`)} end`,
    kind: sql`case when ${kind} in (0, 9) then 'push.pushed' when ${kind} in (1, 2) then 'issue.created'
      when ${kind} = 3 then 'issue.closed' else 'issue.commented' end`,
    reserved: sql`n % 50 = 4`,
    issue_id: sql`case when ${kind} not in (0, 9) then 1 + (n - 1) % ${sql.lit(issues)} end`,
    note_id: sql`case when ${kind} between 4 and 8 then n end`,
    push: sql`case when ${kind} in (0, 9) then '{"commit_count":1,"action":"pushed","ref_type":"branch","commit_from":"${sql.raw('a'.repeat(40))}","commit_to":"${sql.raw('b'.repeat(40))}","ref":"master","commit_title":"Work"}' end`,
    created_at: happened(notes),
  })

  await addRows(db, 'award_emoji', issues, {
    user_id: person(n),
    name: sql`'thumbsup'`,
    issue_id: n,
    ...times(issues),
  })
  await addRows(db, 'award_emoji', issues, { user_id: person(n), name: sql`'rocket'`, note_id: n, ...times(issues) })
  await addRows(db, 'award_emoji', REACTIONS_THERE, {
    user_id: sql`n + 100`,
    name: sql`'heart'`,
    issue_id: sql.lit(DISCUSSED),
    ...times(REACTIONS_THERE),
  })
  await addRows(db, 'text_mentions', issues, {
    source_issue_id: n,
    source_project_id: crowded,
    user_id: person(sql`n * 11`),
    created_at: happened(issues),
  })

  // For the member: a tenth of the issues are pending todos, and four tenths are done.
  await addRows(db, 'todos', issues / 2, {
    user_id: sql.lit(MEMBER),
    project_id: crowded,
    issue_id: sql`2 * n - case when n % 7 = 0 then 0 else 1 end`,
    note_id: sql`case when n % 3 = 0 then 2 * n + 1 end`,
    author_id: person(n),
    action: sql`case n % 4 when 0 then 'assigned' when 1 then 'mentioned' when 2 then 'marked' else 'directly_addressed' end`,
    state: sql`case when n % 5 = 0 then 'pending' else 'done' end`,
    ...times(issues / 2),
  })

  const first = async (table: 'labels' | 'milestones') =>
    sql.lit(
      Number(
        (
          await db
            .selectFrom(table)
            .select((eb) => eb.fn.max('id').as('last'))
            .executeTakeFirstOrThrow()
        ).last,
      ),
    )
  const lastLabel = await first('labels')
  await addRows(db, 'labels', labels, {
    id: sql`n + ${lastLabel}`,
    project_id: crowded,
    title: sql`'tag' || n`,
    color: sql`'#428BCA'`,
    ...times(labels),
  })
  await addRows(db, 'issue_labels', issues, { issue_id: n, label_id: sql`1 + ${lastLabel} + n % ${sql.lit(labels)}` })
  const lastMilestone = await first('milestones')
  await addRows(db, 'milestones', MILESTONES_THERE, {
    id: sql`n + ${lastMilestone}`,
    project_id: crowded,
    iid: sql`n + 100`,
    title: sql`'Release ' || n`,
    description: sql`'For ${sql.raw(EVERYBODY)}, with ${sql.raw(PHRASE)}, ' || ${rare(n, MILESTONES_THERE)}`,
    state: sql`case when n % 2 = 0 then 'active' else 'closed' end`,
    ...times(MILESTONES_THERE),
  })

  const snippets = Math.max(issues, FEWEST_SNIPPETS)
  const own = sql`n % 20 = 3`
  await addRows(db, 'snippets', snippets, {
    id: n,
    project_id: sql`case when n % 20 = 0 then ${crowded}
      when n % 2 = 0 then 1 + (n / 2) % ${sql.lit(Math.min(1000, issues))} end`,
    author_id: sql`case when ${own} then ${sql.lit(MEMBER)} else ${person(n)} end`,
    title: sql`'An ' || ${rare(n, snippets)} || ' of ${sql.raw(EVERYBODY)} with ${sql.raw(PHRASE)} ' || n`,
    visibility: sql`case n % 3 when 0 then 'public' when 1 then 'internal' else 'private' end`,
    ...times(snippets),
  })
  await addRows(db, 'snippet_files', snippets, { snippet_id: n, path: sql`'work.txt'`, content: sql`'Numbers ' || n` })

  for (const [rows, issue] of [
    [issues, n],
    [issues, n],
    [CHANGES_THERE, sql.lit(DISCUSSED)],
  ] as const) {
    const change = { issue_id: issue, user_id: person(n), created_at: happened(rows) }
    await addRows(db, 'resource_label_events', rows, { ...change, label_id: sql`1 + n % 10`, action: sql`'add'` })
    await addRows(db, 'resource_state_events', rows, { ...change, state: sql`'closed'` })
    await addRows(db, 'resource_milestone_events', rows, {
      ...change,
      milestone_id: sql`1 + n % 5`,
      action: sql`'add'`,
      state: sql`'opened'`,
    })
  }
  const board = await db
    .insertInto('boards')
    .values({ project_id: CROWDED, group_id: null, name: 'Work', created_at: daysAgo(9), updated_at: daysAgo(9) })
    .returning('id')
    .executeTakeFirstOrThrow()
  await addRows(db, 'board_lists', 3, { board_id: sql.lit(board.id), label_id: n, position: n, ...times(3) })
}

const hex = (db: Db, value: RawBuilder<unknown>) =>
  isSqlite(db) ? sql`printf('%040x', ${value})` : sql`lpad(to_hex((${value})::bigint), 40, '0')`

/** Computes what triggers would have maintained. */
async function makeUp(db: Db): Promise<void> {
  const day = isSqlite(db) ? sql`created_at` : sql`cast(cast(created_at at time zone 'UTC' as date) as text)`
  for (const author of ['author_id', '0']) {
    for (const [unit, length] of Object.entries({ day: 10, month: 7, year: 4 })) {
      await sql`insert into activity_spans (author_id, unit, start, project_id, kind, reserved, total)
        select ${sql.raw(author)}, ${sql.lit(unit)}, substr(${day}, 1, ${sql.lit(length)}), project_id, kind, reserved,
        count(*) from activities group by 1, 2, 3, 4, 5, 6`.execute(db)
    }
  }
  if (!isSqlite(db)) await sql`analyze`.execute(db)
  await sql`update issues set
    user_notes_count = (select count(*) from notes n where n.issue_id = issues.id and not n.system),
    upvotes = (select count(*) from award_emoji e where e.issue_id = issues.id and e.name = 'thumbsup')`.execute(db)
  await sql`update todos set reserved = exists (select 1 from issues i where i.id = todos.issue_id and i.confidential)
    or exists (select 1 from notes n where n.id = todos.note_id and n.internal)`.execute(db)
  for (const [table, kinds, from] of [
    ['activities_facets', 'project_id, author_id, kind, reserved', 'activities'],
    ['todos_facets', 'user_id, state, project_id, type, author_id, action, reserved', 'todos'],
    [
      'issue_labels_facets',
      'label_id, project_id, state, confidential',
      'issue_labels l join issues i on i.id = l.issue_id',
    ],
  ]) {
    await sql`delete from ${sql.raw(table!)}`.execute(db)
    await sql`insert into ${sql.raw(table!)} (${sql.raw(kinds!)}, total)
      select ${sql.raw(kinds!)}, count(*) from ${sql.raw(from!)} group by ${sql.raw(kinds!)}`.execute(db)
  }
}
