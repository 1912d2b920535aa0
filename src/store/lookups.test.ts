/** Rows that are asked together are the rows that each query returns alone, on both databases. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { hotQuery } from './hot.ts'
import { askTogether, lookup } from './lookups.ts'
import { transact } from './transact.ts'

const projects = hotQuery((db, p: { visibility: string; path: string | null }, given) =>
  db
    .selectFrom('projects')
    .selectAll()
    .where('visibility', '=', p.visibility as 'public')
    .$if(given('path'), (query) => query.where('path', '=', p.path!))
    .orderBy('id', 'desc'),
)
const users = hotQuery(
  (_db, p: { from: number }) => sql<{ id: number; when: string; sum: number; external: boolean; none: null }>`
    select id, created_at as "when", (select sum(id) from users) as sum, external, null as none
    from users where id >= ${p.from} order by username`,
)

const rows = <R>(found: readonly R[]) => found

test('what is asked together has the values that it has alone', async () => {
  await using forge = await startForge()
  const { app } = forge
  for (const path of ['one', 'two', 'Ü "quoted" \\ $1 ?'])
    await forge.project({ path: path.startsWith('Ü') ? 'three' : path, description: path, visibility: 'public' })
  await forge.user({ external: true } as never)
  const asked = () => ({
    all: lookup(projects, { visibility: 'public', path: null }, rows),
    one: lookup(projects, { visibility: 'public', path: 'two' }, rows),
    none: lookup(projects, { visibility: 'private', path: null }, rows),
    unasked: lookup(projects, null, rows),
    users: lookup(users, { from: 1 }, rows),
  })
  const expected = {
    all: await projects(app.db, { visibility: 'public', path: null }),
    one: await projects(app.db, { visibility: 'public', path: 'two' }),
    none: [],
    unasked: [],
    users: await users(app.db, { from: 1 }),
  }
  expect(expected.all).toHaveLength(3)
  expect(await transact(app, async ({ db }) => askTogether(db, asked()))).toEqual(expected)
  const found = await askTogether(app.db, asked())
  expect(found).toEqual(expected)
  expect(await transact(app, async ({ db }) => askTogether(db, asked()))).toEqual(expected)
  expect(found.users[0]!.when).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/)
  expect(await forge.queries(async () => askTogether(app.db, asked()))).toBe(1)
})
