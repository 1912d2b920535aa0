import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startPostgres } from '../../scripts/postgres.ts'
import { openSecondStore } from '../../test/freshness.ts'
import { testDatabaseUrl } from '../config.ts'
import { startForge, type TestForge } from '../forge.ts'
import { putTogether } from './counts.ts'
import { openStore } from './open.ts'
import { transact } from './transact.ts'

const server = testDatabaseUrl()

/** A transaction that keeps its locks until it is told to end. */
async function hold({ app }: TestForge, write: (app: TestForge['app']) => Promise<unknown>) {
  const held = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const done = transact(app, async (app) => {
    await write(app)
    held.resolve()
    await end.promise
  })
  await Promise.race([held.promise, done])
  return { release: () => (end.resolve(), done) }
}

test.runIf(server)('writers that wait for each other leave connections to readers', async () => {
  await using forge = await startForge({ settings: { DATABASE_POOL: '4' } })
  const user = await forge.user()
  const holder = await hold(forge, ({ db }) =>
    db.updateTable('users').set({ bio: 'held' }).where('id', '=', user.id).execute(),
  )
  let written = 0
  const writing = Array.from({ length: 12 }, () =>
    transact(forge.app, ({ db }) =>
      db.updateTable('users').set({ bio: 'written' }).where('id', '=', user.id).execute(),
    ).then(() => written++),
  )
  for (let n = 0; n < 5; n++) expect((await user.get('/user')).body.bio).toBeNull()
  expect(written).toBe(0)
  await holder.release()
  await Promise.all(writing)
  expect((await user.get('/user')).body.bio).toBe('written')
})

test.runIf(server)('creators of issues wait for their number without a connection', async () => {
  await using forge = await startForge({ settings: { DATABASE_POOL: '4' } })
  const project = await forge.project()
  const create = (_: unknown, n: number) =>
    forge.administrator.post(`/projects/${project.id}/issues`, { title: `${n}` })
  const answers = await Promise.all(Array.from({ length: 60 }, create))
  expect(answers.filter(({ status }) => status !== 201)).toEqual([])
  expect(new Set(answers.map(({ body }) => body.iid)).size).toBe(60)
  expect((await forge.administrator.get(`/projects/${project.id}`)).body.open_issues_count).toBe(60)
})

/** Four of each kind take a number: of the target project, of the group, of the project. */
const NUMBERED: Record<string, (forge: TestForge) => Promise<(n: number) => Promise<{ status: number }>>> = {
  async issues(forge) {
    const { administrator: root } = forge
    const [from, to] = [await forge.project({ path: 'from' }), await forge.project({ path: 'to' })]
    for (const { id } of [to, from, from, from, from]) await root.post(`/projects/${id}/issues`, { title: 'a' })
    return (n) => root.post(`/projects/${from.id}/issues/${n}/move`, { to_project_id: to.id })
  },
  async milestones(forge) {
    const { administrator: root } = forge
    const group = await forge.group({ path: 'group' })
    const { id } = await forge.project({ path: 'p', namespace_id: group.id })
    await root.post(`/groups/${group.id}/milestones`, { title: 'first' })
    const made: number[] = []
    for (const title of ['a', 'b', 'c', 'd'])
      made.push((await root.post(`/projects/${id}/milestones`, { title })).body.id)
    return (n) => root.post(`/projects/${id}/milestones/${made[n - 1]}/promote`)
  },
  async pipelines(forge) {
    const { administrator: root } = forge
    const { id } = await forge.project({ initialize_with_readme: true })
    const { body: branch } = await root.get(`/projects/${id}/repository/branches/master`)
    for (const n of [1, 2, 3, 4])
      await root.post(`/projects/${id}/repository/branches`, { branch: `b${n}`, ref: 'master' })
    const at = `/projects/${id}/statuses/${branch.commit.id}`
    await root.post(at, { state: 'pending', ref: 'master' })
    return (n) => root.post(at, { state: 'pending', ref: `b${n}` })
  },
  async deployments(forge) {
    const { administrator: root } = forge
    const { id } = await forge.project({ initialize_with_readme: true })
    const { body: branch } = await root.get(`/projects/${id}/repository/branches/master`)
    const input = { sha: branch.commit.id, ref: 'master', tag: false, status: 'success' }
    const deploy = (n: number) => root.post(`/projects/${id}/deployments`, { ...input, environment: `e${n}` })
    await deploy(0)
    return deploy
  },
}

test.runIf(server).each(Object.entries(NUMBERED))(
  'those who wait for a number (%s) leave others to write',
  async (kind, prepare) => {
    await using forge = await startForge({ settings: { DATABASE_POOL: '4' } })
    const take = await prepare(forge)
    const holder = await hold(forge, ({ db }) =>
      sql`update iid_counters set last = last where kind = ${kind}`.execute(db),
    )
    const taking = Promise.all([1, 2, 3, 4].map(take))
    const other = await forge.project({ path: 'other' })
    const label = { name: 'a', color: '#123456' }
    for (const name of ['a', 'b', 'c'])
      expect(await forge.administrator.post(`/projects/${other.id}/labels`, { ...label, name })).toMatchObject({
        status: 201,
      })
    await holder.release()
    expect((await taking).filter(({ status }) => status >= 300)).toEqual([])
  },
)

test.runIf(server)('issues come, close and go while somebody has the row of their project', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const { id } = await forge.project()
  const holder = await hold(forge, ({ db }) =>
    db.updateTable('projects').set({ description: 'held' }).where('id', '=', id).execute(),
  )
  const at = `/projects/${id}/issues`
  const open = async () => (await administrator.get(`/projects/${id}`)).body.open_issues_count
  for (const title of ['a', 'b', 'c'])
    expect(await administrator.post(at, { title })).toMatchObject({ status: 201, body: { title } })
  expect(await open()).toBe(3)
  expect(await administrator.put(`${at}/1`, { state_event: 'close' })).toMatchObject({ status: 200 })
  expect(await administrator.delete(`${at}/2`)).toMatchObject({ status: 204 })
  expect(await open()).toBe(1)
  await holder.release()
  expect((await administrator.get(`/projects/${id}`)).body).toMatchObject({ description: 'held', open_issues_count: 1 })
})

test.runIf(server)('counts are put together by several processes at once, and none is lost', async () => {
  await using forge = await startForge()
  const { id } = await forge.project()
  const { db } = forge.app
  for (let n = 0; n < 20; n++) await db.insertInto('ci_artifacts_facets').values({ project_id: id, total: 1 }).execute()
  const held = await hold(forge, ({ db }) =>
    sql`select 1 from ci_artifacts_facets where project_id = ${id} limit 5 for update`.execute(db),
  )
  // Rows that another process has locked are skipped without waiting.
  const beside = await openSecondStore(forge)
  await Promise.all([putTogether(db), putTogether(beside.db)])
  await held.release()
  await beside.close()
  const { rows } = await sql<{ total: number; rows: number }>`
    select sum(total) as total, count(*) as rows from ci_artifacts_facets where project_id = ${id}`.execute(db)
  expect(rows[0]!.total).toBe(20)
  expect(rows[0]!.rows).toBeLessThan(10)
})

test.runIf(server)('where the database takes no more connections, one of those there are is waited for', async () => {
  await using postgres = await startPostgres({ max_connections: 8 })
  const stores = await Promise.all(
    [1, 2].map(() => openStore(postgres.url, { durable: false, shared: true, poolSize: 10 })),
  )
  const ask = async (_: unknown, n: number) => {
    const { rows } = await sql<{ n: number }>`select ${n}::int as n, pg_sleep(0.02)`.execute(stores[n % 2]!.db)
    return rows[0]!.n
  }
  const asked = Array.from({ length: 60 }, (_, n) => n)
  expect(await Promise.all(asked.map((n) => ask(null, n)))).toEqual(asked)
  for (const store of stores) await store.close()
})

test.runIf(server)('transactions that lock in opposite orders both succeed in the end', async () => {
  await using forge = await startForge()
  const [ann, bob] = [await forge.user(), await forge.user()]
  const raise = (ids: readonly number[]) =>
    transact(forge.app, async ({ db }) => {
      for (const id of ids)
        await db
          .updateTable('users')
          .set(({ eb }) => ({ projects_limit: eb('projects_limit', '+', 1) }))
          .where('id', '=', id)
          .execute()
    })
  const before = (await ann.get('/user')).body.projects_limit
  const both = [ann.id, bob.id]
  await Promise.all(Array.from({ length: 6 }, (_, n) => raise(n % 2 ? both : both.toReversed())))
  expect((await ann.get('/user')).body.projects_limit).toBe(before + 6)
})

test.runIf(server).each([
  ['a statement alone', 'push_rules', 'push_rule', { deny_delete_tag: true }],
  ['a transaction', 'labels', 'labels', { name: 'a', color: '#123456' }],
])('%s that meets others each time is unavailable, not broken', async (_what, table, path, input) => {
  await using forge = await startForge()
  const { db } = forge.app
  const { id } = await forge.project()
  await sql`create function meet() returns trigger language plpgsql as
    $$ begin raise exception 'deadlock detected' using errcode = '40P01'; end $$`.execute(db)
  await sql`create trigger meet before insert on ${sql.table(table)} for each row execute function meet()`.execute(db)
  const before = await forge.administrator.get(`/projects/${id}/${path}`)
  const answer = await forge.administrator.post(`/projects/${id}/${path}`, input)
  expect(answer).toMatchObject({ status: 503, body: { message: '503 The database does not answer' } })
  expect(answer.headers.get('retry-after')).toBe('5')
  await sql`drop trigger meet on ${sql.table(table)}`.execute(db)
  expect((await forge.administrator.get(`/projects/${id}/${path}`)).body).toEqual(before.body)
  expect(await forge.administrator.post(`/projects/${id}/${path}`, input)).toMatchObject({ status: 201 })
})

test.runIf(server)('what was committed is answered, however many read', async () => {
  await using forge = await startForge({ settings: { DATABASE_POOL: '2' } })
  const { db } = forge.app
  const { id } = await forge.project()
  const at = `/projects/${id}/issues`
  const reading = Array.from({ length: 40 }, () => sql`select pg_sleep(0.05)`.execute(db))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => forge.administrator.post(at, { title: `${n}` })),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 201))
  await Promise.all(reading)
  expect((await forge.administrator.get(at)).headers.get('x-total')).toBe('20')
})
