/** On PostgreSQL: two transactions on the same rows wait for each other in one order and never deadlock. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../../config.ts'
import type { App, TransactionApp, User } from '../../context.ts'
import { startForge, type TestForge } from '../../forge.ts'
import type { Db, Row } from '../../store/database.ts'
import { findUser } from '../identity/users/queries.ts'
import { findProjectSubject, type VersionedProject } from '../projects/projects/queries.ts'
import { lockIssue, updateIssue } from './issues/service.ts'
import { deleteLabel, updateLabel } from './labels/service.ts'
import { deleteMilestone, updateMilestone } from './milestones/service.ts'

interface Input {
  readonly actor: User
  readonly subject: VersionedProject
}

/** Two issues with the same label; the first has a milestone. */
async function plan(forge: TestForge) {
  const { administrator: root } = forge
  const { id } = await forge.project()
  const at = `/projects/${id}`
  await root.post(`${at}/labels`, { name: 'bug', color: '#123456', priority: 3 })
  const milestone = (await root.post(`${at}/milestones`, { title: 'v1' })).body
  await root.post(`${at}/issues`, { title: 'a', labels: 'bug', milestone_id: milestone.id })
  await root.post(`${at}/issues`, { title: 'b', labels: 'bug' })
  const actor = (await findUser(forge.app.db, root.id))!
  const given: Input = { actor, subject: (await findProjectSubject(forge.app, String(id), actor))! }
  return { given, at, root }
}

/** A transaction without retry. */
const once = <T>(app: App, body: (app: TransactionApp) => Promise<T>): Promise<T> =>
  app.db.transaction().execute((db) => body({ ...app, db, onCommit: () => {} }))

const first = <T extends 'labels' | 'milestones'>({ db }: App, table: T): Promise<Row<T>> =>
  db
    .selectFrom(table as 'labels')
    .selectAll()
    .where('id', '=', 1)
    .executeTakeFirstOrThrow() as Promise<never>

async function somebodyWaits(db: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql`select 1 from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
    if (rows.length > 0) return
  }
}

type Act = (app: App, given: Input) => Promise<unknown>

const change =
  (id: number, input: Parameters<typeof updateIssue>[4]): Act =>
  (app, { actor, subject }) =>
    updateIssue(app, actor, subject, id, input)

/** The first transaction has locked issue 1 when the second begins, and continues once the second waits. */
const table: [string, Act, Act][] = [
  [
    'a label is taken from an issue, its priority is another',
    change(1, { remove_labels: ['bug'] }),
    async (app, { actor, subject }) => updateLabel(app, actor, subject, await first(app, 'labels'), { priority: 1 }),
  ],
  [
    'a label is taken from an issue, its priority is gone',
    change(1, { remove_labels: ['bug'] }),
    async (app, { actor, subject }) => updateLabel(app, actor, subject, await first(app, 'labels'), { priority: null }),
  ],
  [
    'a label is taken from an issue, and deleted',
    change(1, { remove_labels: ['bug'] }),
    async (app, { actor }) => deleteLabel(app, actor, await first(app, 'labels')),
  ],
  [
    'a milestone is given to another issue, its date is another',
    change(2, { milestone_id: 1 }),
    async (app, { actor, subject }) =>
      updateMilestone(app, actor, subject, await first(app, 'milestones'), { due_date: '2027-01-01' }),
  ],
  [
    'a milestone is taken from an issue, and deleted',
    change(1, { milestone_id: 0 }),
    async (app, { actor }) => deleteMilestone(app, actor, await first(app, 'milestones')),
  ],
]

test.runIf(testDatabaseUrl()).each(table)('%s', async (_what, one, other) => {
  await using forge = await startForge()
  const { given, at, root } = await plan(forge)
  const { app } = forge
  const held = Promise.withResolvers<void>()
  const outcome = await Promise.all([
    once(app, async (inner) => {
      await lockIssue(inner, 1)
      held.resolve()
      await somebodyWaits(app.db)
      await one(inner, given)
    }),
    held.promise.then(() => once(app, (inner) => other(inner, given))),
  ])
  expect(outcome).toHaveLength(2)
  await forge.settle()
  // The sort columns match the last committed change.
  const kept = await sql`select id, milestone_due, label_priority from issues order by id`.execute(app.db)
  const counted = await sql`select i.id, m.due_date as milestone_due, (select min(q.priority) from issue_labels l
    join label_priorities q on q.label_id = l.label_id and q.project_id = i.project_id where l.issue_id = i.id)
    as label_priority from issues i left join milestones m on m.id = i.milestone_id order by i.id`.execute(app.db)
  expect(kept.rows).toEqual(counted.rows)
  expect((await root.get(`${at}/issues`)).body).toHaveLength(2)
})

test.runIf(testDatabaseUrl()).each([
  ['a label while its priority changes', { add_labels: ['new'] }, 'label_priority'],
  ['a milestone while its date changes', { milestone_id: 1 }, 'milestone_due'],
] as const)('%s', async (_what, input, column) => {
  await using forge = await startForge()
  const { given, at, root } = await plan(forge)
  const { app } = forge
  await root.post(`${at}/labels`, { name: 'new', color: '#123456' })
  await once(app, async (inner) => {
    await change(2, input)(inner, given)
    // Neither transaction waits for the other or sees it.
    const path = column === 'label_priority' ? `${at}/labels/new` : `${at}/milestones/1`
    expect(await root.put(path, { priority: 1, due_date: '2027-01-01' })).toMatchObject({ status: 200 })
  })
  await forge.settle()
  const issue = await app.db.selectFrom('issues').selectAll().where('id', '=', 2).executeTakeFirstOrThrow()
  expect(issue[column]).toBe(column === 'label_priority' ? 1 : '2027-01-01')
})
