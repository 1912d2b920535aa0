import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { jobRow } from '../jobs/queue.ts'
import { totalOf } from './counts.ts'
import type { Db } from './database.ts'
import { isSqlite, substring, uniqueViolation, violates, whereContains } from './dialect.ts'
import { hotInsert, hotQuery } from './hot.ts'
import { migrate } from './migrate.ts'
import { emit } from './outbox.ts'
import { transact } from './transact.ts'
import { cachedRows } from './versions.ts'

test('a migrated store has nothing left to migrate', async () => {
  await using forge = await startForge()
  expect(await migrate(forge.app.store)).toEqual([])
})

test('values come back in the form they were written, on either engine', async () => {
  await using forge = await startForge()
  const user = await forge.user({ external: true })
  const row = await forge.app.db.selectFrom('users').selectAll().where('id', '=', user.id).executeTakeFirstOrThrow()
  expect(row).toMatchObject({ id: user.id, admin: false, external: true, bio: null, last_activity_on: null })
  expect(row.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  await forge.app.db.updateTable('users').set({ last_activity_on: '2026-02-28' }).where('id', '=', user.id).execute()
  const { last_activity_on } = await forge.app.db
    .selectFrom('users')
    .select('last_activity_on')
    .where('id', '=', user.id)
    .executeTakeFirstOrThrow()
  expect(last_activity_on).toBe('2026-02-28')
})

test('reads go on while a write transaction is open, and see the state before it', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const { promise: written, resolve: reportWritten } = Promise.withResolvers<void>()
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
  const writing = transact(forge.app, async (app) => {
    await app.db.updateTable('users').set({ name: 'Renamed' }).where('id', '=', user.id).execute()
    reportWritten()
    await mayCommit
  })
  await written
  expect((await user.get('/user')).body.name).not.toBe('Renamed')
  commit()
  await writing
  expect((await user.get('/user')).body.name).toBe('Renamed')
})

test('a transaction that fails leaves nothing, its events included; nested ones join it', async () => {
  await using forge = await startForge()
  const user = await forge.user()
  const before = await forge.events()
  let reacted = false
  const failing = transact(forge.app, async (app) => {
    app.onCommit(() => (reacted = true))
    await emit(app, 'user.blocked', { id: user.id })
    await transact(app, (app) => app.db.updateTable('users').set({ name: 'Lost' }).where('id', '=', user.id).execute())
    throw new Error('changed my mind')
  })
  await expect(failing).rejects.toThrow('changed my mind')
  expect((await user.get('/user')).body.name).not.toBe('Lost')
  expect(await forge.events()).toEqual(before)
  expect(reacted).toBe(false)
})

test('many writers at once all succeed', async () => {
  await using forge = await startForge()
  const user = await forge.user({ projects_limit: 0 })
  const increment = () =>
    transact(forge.app, async ({ db }) => {
      const { projects_limit } = await db
        .selectFrom('users')
        .select('projects_limit')
        .where('id', '=', user.id)
        .$if(!isSqlite(db), (query) => query.forUpdate())
        .executeTakeFirstOrThrow()
      await db
        .updateTable('users')
        .set({ projects_limit: projects_limit + 1 })
        .where('id', '=', user.id)
        .execute()
    })
  await Promise.all(Array.from({ length: 50 }, increment))
  expect((await user.get('/user')).body.projects_limit).toBe(50)
})

test('a violated unique index is told by its name', async () => {
  await using forge = await startForge()
  const user = await forge.user({ username: 'Ann' })
  const violation = async (change: Record<string, string>) => {
    const { id: _, ...row } = await forge.app.db
      .selectFrom('users')
      .selectAll()
      .where('id', '=', user.id)
      .executeTakeFirstOrThrow()
    const attempt = forge.app.db
      .insertInto('users')
      .values({ ...row, ...change })
      .execute()
    return attempt.then(
      () => null,
      (error: unknown) => error,
    )
  }
  const email = await violation({ username: 'other' })
  expect(violates(email, 'users', 'email')).toBe(true)
  expect(violates(email, 'users', 'username')).toBe(false)
  expect(uniqueViolation(email)).toBe('users_email_unique')
  // An index on an expression is told by its name, others by their columns.
  const username = await violation({ email: 'other@example.com', username: 'aNN' })
  expect(violates(username, 'users', 'username')).toBe(true)
  // @ts-expect-error there is no such column
  expect(violates(username, 'users', 'user_name')).toBe(false)
  // @ts-expect-error there is no such table
  expect(violates(username, 'user', 'username')).toBe(false)
  expect(uniqueViolation(new Error('something else'))).toBeNull()
})

test('hot queries take their values anew each time', async () => {
  await using forge = await startForge()
  const [ann, bob] = [await forge.user({ username: 'ann' }), await forge.user({ username: 'bob' })]
  const nameOf = hotQuery((db, p: { id: number }) => db.selectFrom('users').select('username').where('id', '=', p.id))
  const { db } = forge.app
  expect(await Promise.all([nameOf(db, { id: ann.id }), nameOf(db, { id: bob.id }), nameOf(db, { id: 0 })])).toEqual([
    [{ username: 'ann' }],
    [{ username: 'bob' }],
    [],
  ])
})

test('hot queries in a transaction see its changes, and fail once it has ended', async () => {
  await using forge = await startForge()
  const ann = await forge.user({ username: 'ann' })
  const nameOf = hotQuery((db, p: { id: number }) => db.selectFrom('users').select('name').where('id', '=', p.id))
  const rename = hotQuery((db, p: { id: number; name: string }) =>
    db.updateTable('users').set({ name: p.name }).where('id', '=', p.id).returning('name'),
  )
  let ended = forge.app.db
  await transact(forge.app, async ({ db }) => {
    ended = db
    expect(await rename(db, { id: ann.id, name: 'Other' })).toEqual([{ name: 'Other' }])
    expect(await nameOf(db, { id: ann.id })).toEqual([{ name: 'Other' }])
    expect(await nameOf(forge.app.db, { id: ann.id })).toEqual([{ name: 'User 1' }])
  })
  await expect((async () => nameOf(ended, { id: ann.id }))()).rejects.toThrow(/ended|committed|transaction/i)
  await transact(forge.app, async ({ db }) => {
    await rename(db, { id: ann.id, name: 'Third' })
    throw new Error('no')
  }).catch(() => {})
  expect(await nameOf(forge.app.db, { id: ann.id })).toEqual([{ name: 'Other' }])
})

test('a hot insert writes any number of rows', async () => {
  await using forge = await startForge()
  const insert = hotInsert('jobs', ['name', 'key', 'payload', 'state', 'attempts', 'run_at', 'created_at'])
  for (const count of [0, 1, 3, 45]) {
    const rows = Array.from({ length: count }, (_, n) =>
      jobRow(forge.app, { name: 'test' }, '{}', { key: n % 2 ? `${count} ${n}` : null }),
    )
    expect(await transact(forge.app, ({ db }) => insert(db, rows))).toMatchObject(rows)
  }
})

test('totals are counted once for as long as nothing changes, and again after each change', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const external = db.selectFrom('users').selectAll().where('external', '=', true)
  const total = () => totalOf(db, ['users'], external)
  const queriesOf = (work: () => Promise<unknown>) => forge.queries(work)

  expect(await total()).toBe(0)
  expect(await queriesOf(total)).toBe(1)
  const user = await forge.user({ external: true })
  expect(await queriesOf(total)).toBe(2)
  expect(await total()).toBe(1)
  await forge.administrator.put(`/users/${user.id}`, { external: false })
  expect(await total()).toBe(0)
  await forge.administrator.put(`/users/${user.id}`, { bio: 'no list depends on it' })
  expect(await queriesOf(total)).toBe(1)
  await forge.administrator.delete(`/users/${user.id}`)
  expect(await queriesOf(total)).toBe(2)
})

test('a total of a transaction that fails is not served to others', async () => {
  await using forge = await startForge()
  const { app } = forge
  const external = (db: Db) => totalOf(db, ['users'], db.selectFrom('users').selectAll().where('external', '=', true))
  expect(await external(app.db)).toBe(0)
  const failing = transact(app, async ({ db }) => {
    await db.updateTable('users').set({ external: true }).execute()
    expect(await external(db)).toBe(1)
    throw new Error('undone')
  })
  await expect(failing).rejects.toThrow('undone')
  // Brings the versions to the values they had in the failed transaction.
  await app.db.updateTable('users').set({ external: false }).execute()
  expect(await external(app.db)).toBe(0)
})

test('facets agree with the rows after every kind of change', async () => {
  await using forge = await startForge()
  const { administrator } = forge
  const [ann, bob] = [await forge.user({ external: true }), await forge.user({ blocked: true })]
  await administrator.put(`/users/${ann.id}`, { external: false })
  await administrator.post(`/users/${bob.id}/unblock`)
  await administrator.delete(`/users/${bob.id}`) // and creates the ghost
  await forge.user({ external: true, blocked: true })
  const counted = await sql<object>`select state, external, ghost, count(*) as total from users group by 1, 2, 3
    order by 1, 2, 3`.execute(forge.app.db)
  const kept = await sql<object>`select state, external, ghost, cast(sum(total) as bigint) as total from users_facets
    group by state, external, ghost having sum(total) > 0
    order by 1, 2, 3`.execute(forge.app.db)
  expect(kept.rows).toEqual(counted.rows)
  expect(counted.rows).toHaveLength(3)
})

test('substrings are found by the index, whatever characters they hold', async () => {
  await using forge = await startForge()
  const odd = await forge.user({ name: `50% "off" _under_ O'Neil` })
  await forge.user({ name: 'Plain Person' })
  const { db } = forge.app
  const searching = (text: string) =>
    whereContains(
      db,
      db.selectFrom('users').select('users.id'),
      'users',
      ['name', 'username', 'email'],
      substring(db, text),
    )
  const found = async (text: string) => (await searching(text).execute()).map(({ id }) => id)
  for (const text of ['50%', '"off"', '_under_', `o'neil`, 'OFF']) expect(await found(text), text).toEqual([odd.id])
  for (const text of ['%%%', '___', '"""', 'off OR plain', '*off']) expect(await found(text), text).toEqual([])
})

test('every update of a row raises its version, and rows are kept by it', async () => {
  await using forge = await startForge()
  const { id } = await forge.user()
  const { db } = forge.app
  const rows = cachedRows('users')
  const versionOf = async () =>
    (await db.selectFrom('users').select('version').where('id', '=', id).executeTakeFirstOrThrow()).version
  const rename = (name: string, at = db) => at.updateTable('users').set({ name }).where('id', '=', id).execute()
  const nameAt = async (version: number, at = db) => (await rows(at, [{ id, version }])).get(id)?.name

  const first = await versionOf()
  await rename('Ann')
  await rename('Ann')
  const second = await versionOf()
  expect(second).toBe(first + 2)
  expect(await nameAt(second)).toBe('Ann')
  const twice = async () => [await nameAt(second), await nameAt(second)]
  expect(await forge.queries(twice)).toBe(1)

  await rename('Bob')
  expect(await nameAt(await versionOf())).toBe('Bob')
  const changed = transact(forge.app, async (app) => {
    await rename('Lost', app.db)
    expect(await nameAt(second + 2, app.db)).toBe('Lost')
    throw new Error('changed my mind')
  })
  await expect(changed).rejects.toThrow('changed my mind')
  await rename('Cid')
  expect(await versionOf()).toBe(second + 2)
  expect(await nameAt(second + 2)).toBe('Cid')

  expect((await rows(db, [{ id: -1, version: 1 }])).size).toBe(0)
})
