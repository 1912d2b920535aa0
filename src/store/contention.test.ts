import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startPostgres } from '../../scripts/postgres.ts'
import { testDatabaseUrl } from '../config.ts'
import { startForge } from '../forge.ts'
import { openStore } from './open.ts'
import { transact } from './transact.ts'

const server = testDatabaseUrl()

/** A transaction that has the row of a user until it is told to end. */
async function holdUser(forge: Awaited<ReturnType<typeof startForge>>, id: number) {
  const held = Promise.withResolvers<void>()
  const end = Promise.withResolvers<void>()
  const done = transact(forge.app, async ({ db }) => {
    await db.updateTable('users').set({ bio: 'held' }).where('id', '=', id).execute()
    held.resolve()
    await end.promise
  })
  await held.promise
  return { release: () => (end.resolve(), done) }
}

test.runIf(server)('writers that wait for each other leave connections to readers', async () => {
  await using forge = await startForge({ settings: { DATABASE_POOL: '4' } })
  const user = await forge.user()
  const holder = await holdUser(forge, user.id)
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
