import { sql, type Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { StoreUnavailable, type Db } from './database.ts'
import { isSqlite } from './dialect.ts'
import { findByWords, mergeTextIndexes, textQuery } from './full-text.ts'
import { columnTypes } from './migrations/helpers/columns.ts'
import { createTextIndex } from './migrations/helpers/text-index.ts'

declare module './database.ts' {
  interface Tables {
    leaflets: { id: number; title: string; body: string | null }
    pamphlets: { id: number; shelf_id: number; title: string }
  }
}

const LEAFLETS = [
  ['Cutting dovetails', 'A saw, a chisel and patience.'],
  ['Sawdust', null],
  ['foo_bar-baz.ts', 'see http://example.org/a?b=1&c=2, mail jane@example.org'],
  ['Ärger mit Übergrößen', 'ÜBERGROSS'],
  ['v1.2.3 released', "don't panic: 12abc 1e5 -7"],
  ['Two words', 'chisel a saw'],
] as const

const COLUMNS = ['title', 'body']

async function createLeaflets(db: Db): Promise<Kysely<never>> {
  const bare = db as unknown as Kysely<never>
  await columnTypes(bare)
    .withId(bare.schema.createTable('leaflets'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('body', 'text')
    .execute()
  return bare
}

test('words, phrases and prefixes find the same rows on both stores', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const bare = await createLeaflets(db)
  const insert = ([title, body]: readonly [string, string | null], id: number) =>
    db.insertInto('leaflets').values({ id, title, body }).execute()
  // Some rows exist before the index is created.
  for (const [n, leaflet] of LEAFLETS.slice(0, 3).entries()) await insert(leaflet, n)
  await createTextIndex(bare, 'leaflets', COLUMNS)
  for (const [n, leaflet] of LEAFLETS.slice(3).entries()) await insert(leaflet, n + 3)

  const find = async (text: string) => {
    const query = textQuery(db, text)
    if (query === null) return null
    return findByWords(db, { table: 'leaflets', columns: COLUMNS }, { words: query, sort: 'asc' })
  }
  const expected: [string, number[] | null][] = [
    ['saw', [0, 1, 5]],
    ['"saw"', [0, 5]],
    ['SAW*', [0, 1, 5]],
    ['chisel saw', [0, 5]],
    ['"a saw"', [0, 5]],
    ['"chisel a saw"', [5]],
    ['"saw a chisel"', [0]],
    ['"a saw" patience', [0]],
    ['"a" nothing', []],
    ['foo_bar', [2]],
    ['bar-baz', [2]],
    ['"foo bar baz ts"', [2]],
    ['jane@example.org', [2]],
    ['example.org/a?b=1', [2]],
    ['v1.2', [4]],
    ["don't", [4]],
    ['12ab', [4]],
    ['1e5', [4]],
    ['übergrö', [3]],
    ['"" - *', null],
    ['" unclosed', []],
    [`') or 1=1 --`, []],
    ['a AND NOT saw', []],
    ['title:saw', []],
    ['', null],
  ]
  for (const [text, ids] of expected) expect([text, await find(text)]).toEqual([text, ids])

  await db.updateTable('leaflets').set({ title: 'Gone' }).where('id', '=', 1).execute()
  await db.deleteFrom('leaflets').where('id', '=', 5).execute()
  expect(await find('saw')).toEqual([0])
  expect(await find('gon')).toEqual([1])
})

test('a word that is everywhere is found so often and no more, and where it was looked for', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const bare = db as unknown as Kysely<never>
  await columnTypes(bare)
    .withId(bare.schema.createTable('pamphlets'))
    .addColumn('shelf_id', 'integer', (c) => c.notNull())
    .addColumn('title', 'text', (c) => c.notNull())
    .execute()
  const index = { table: 'pamphlets', columns: ['title'], within: 'shelf_id' } as const
  await createTextIndex(bare, index.table, index.columns, index.within)
  const values = Array.from({ length: 1200 }, (_, n) => ({
    id: n + 1,
    shelf_id: n % 100 === 0 ? 7 : 8,
    title: `carpentry joint${n} 7 \ue0007`,
  }))
  await db.insertInto('pamphlets').values(values).execute()
  const find = (text: string, more: object = {}) => findByWords(db, index, { words: textQuery(db, text)!, ...more })
  const newest = values.map(({ id }) => id).reverse()

  expect(await find('carpentry')).toEqual(newest.slice(0, 1000))
  expect(await find('carpentry', { sort: 'asc' })).toEqual(newest.toReversed().slice(0, 1000))
  // For many different words, for few, and for one that is a prefix of the others.
  expect(await find('joint')).toHaveLength(1000)
  expect(await find('joint119')).toEqual([1200, 1199, 1198, 1197, 1196, 1195, 1194, 1193, 1192, 1191, 120])
  expect(await find('carpentry joint119', { within: [7] })).toEqual([])
  expect(await find('carpen', { within: [7] })).toEqual(newest.filter((id) => id % 100 === 1))
  expect(await find('carpen', { within: [7, 9] })).toHaveLength(12)
  expect(await find('carpen', { within: [] })).toEqual([])
  // A number is not a scope, and users cannot type one.
  expect(await find('7', { within: [7] })).toHaveLength(12)
  expect(await find('8')).toEqual([])
  expect(await find('\ue0008')).toEqual([])
  expect(await find('carpentry', { tests: [sql<boolean>`pamphlets.id < 3`] })).toEqual([2, 1])

  await db.updateTable('pamphlets').set({ shelf_id: 9 }).where('id', '=', 101).execute()
  expect(await find('carpentry', { within: [9] })).toEqual([101])
})

test('a search that takes too long is refused', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const bare = db as unknown as Kysely<never>
  await columnTypes(bare).withId(bare.schema.createTable('leaflets')).addColumn('title', 'text').execute()
  await createTextIndex(bare, 'leaflets', ['title'])
  const from = isSqlite(db)
    ? sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 10001) select n, 'saw' from numbers`
    : sql`select n, 'saw' from generate_series(1, 10001) as n`
  await sql`insert into leaflets (id, title) ${from}`.execute(db)
  const find = (more: object) =>
    findByWords(db, { table: 'leaflets', columns: ['title'] }, { words: textQuery(db, 'saw')!, ...more })
  // No row passes, so more than one batch is needed.
  const none = [sql<boolean>`leaflets.id < 0`]
  expect(await find({ tests: none })).toEqual([])
  await expect(find({ tests: none, deadlineMs: isSqlite(db) ? 0 : 1 })).rejects.toThrow(StoreUnavailable)
  expect(await find({ most: 1, deadlineMs: 1000 })).toEqual([10_001])
})

test('a text of any length is kept, and found by its beginning', async () => {
  await using forge = await startForge()
  const jane = await forge.user()
  const many = Array.from({ length: 150_000 }, (_, n) => n.toString(36)).join(' ')
  const { body: project } = await jane.post('/projects', { name: 'Saw' })
  const created = await jane.post(`/projects/${project.id}/issues`, { title: 'Long', description: `dovetail ${many}` })
  expect(created.status).toBe(201)
  const found = await jane.get(`/projects/${project.id}/search`, { scope: 'issues', search: 'doveta' })
  expect(found.body).toHaveLength(1)
})

test('what was written one by one is put together, and found as before', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const bare = await createLeaflets(db)
  await createTextIndex(bare, 'leaflets', COLUMNS)
  /** PostgreSQL always has one. */
  const parts = async () => {
    if (!isSqlite(db)) return 1
    const { rows } = await sql`select distinct segid from leaflets_search_words_idx`.execute(db)
    return rows.length
  }
  for (let id = 1; id <= 10; id++) {
    await db
      .insertInto('leaflets')
      .values({ id, title: `Dovetail ${id}`, body: null })
      .execute()
  }
  await db.deleteFrom('leaflets').where('id', '=', 9).execute()
  const find = () => findByWords(db, { table: 'leaflets', columns: COLUMNS }, { words: textQuery(db, 'dove')! })
  const before = await find()
  expect(before).toEqual([10, 8, 7, 6, 5, 4, 3, 2, 1])

  expect((await parts()) > 4).toBe(isSqlite(db))
  await mergeTextIndexes(db)
  await mergeTextIndexes(db)
  expect(await find()).toEqual(before)
  expect(await parts()).toBe(1)
})
