import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { emptyDatabase } from '../../test/empty-database.ts'
import { contractions, shapeOf } from '../../test/expansion.ts'
import { describeSchema } from '../../test/schema.ts'
import { startForge } from '../forge.ts'
import { TEMPORARY_FOLDER } from '../lib/files/temporary-folder.ts'
import { stepsBack, takeBack, type ReversibleMigration } from './back.ts'
import { BASELINE, listMigrations, RELEASED, runMigrations } from './history.ts'
import { migrate } from './migrate.ts'
import { definer } from './migrations/helpers/define.ts'

const [[, baseline], ...LATER] = (await listMigrations()) as unknown as [[string, URL], ...[string, URL][]]

test('every migration after the baseline only adds, and its way back leaves the schema as it was', async () => {
  await using place = await emptyDatabase()
  const store = await place.openEmpty()
  const { db } = store
  const known = new Map([[BASELINE, baseline]])
  await runMigrations(db, known)
  const before: string[][] = []
  for (const [name, url] of LATER) {
    const { down, contracts } = (await import(url.href)) as Partial<ReversibleMigration>
    expect(down, `${name} has no way back`).toBeTypeOf('function')
    before.push(await describeSchema(db))
    const shape = await shapeOf(db)
    known.set(name, url)
    expect(await runMigrations(db, known)).toEqual([name])
    const found = contracts === undefined ? contractions(shape, await shapeOf(db)) : []
    expect(found, `${name} is no expansion`).toEqual([])
  }
  for (const [name] of LATER.toReversed()) {
    const steps = await stepsBack(store, name)
    expect(steps.map(({ name }) => name)).toEqual([name])
    await takeBack(store, steps)
    expect(await describeSchema(db), `the way back of ${name}`).toEqual(before.pop())
  }
  expect(await stepsBack(store, null)).toEqual([])
  expect(await migrate(store)).toEqual(LATER.map(([name]) => name))
})

test.each([
  ['a table is dropped', 'drop table things;', ['things is gone']],
  ['a table is renamed', 'alter table things rename to others;', ['things is gone']],
  ['a column is dropped', 'alter table things drop column note;', ['things.note is gone']],
  ['a column is renamed', 'alter table things rename column note to remark;', ['things.note is gone']],
  [
    'a column without a default is demanded',
    `drop table things;
    create table things (id integer primary key, name text not null, note text, extra text not null);`,
    ['things.extra is new and has no default'],
  ],
  [
    'a column must be filled from now on',
    `drop table things;
    create table things (id integer primary key, name text not null, note text not null);`,
    ['things.note must not be null any more'],
  ],
  [
    'values must be unique from now on',
    'create unique index things_note on things (note);',
    [expect.stringContaining('older rows and writers must obey: index things_note')],
  ],
  ['a column is added', 'alter table things add column extra text;', []],
  [
    'a column with a default and an index on it is added',
    `alter table things add column extra text not null default '';
    create index things_extra on things (extra);`,
    [],
  ],
  [
    'a unique index on an added column is added',
    `alter table things add column extra text;
    create unique index things_extra on things (name, extra) where extra is not null;`,
    [],
  ],
  ['a table is added', 'create table others (id integer primary key, name text not null unique);', []],
])('%s', async (_, statements, found) => {
  await using place = await emptyDatabase()
  const { db } = await place.openEmpty()
  const define = (text: string) => definer(db)({ raw: [text] } as unknown as TemplateStringsArray)
  await define('create table changes (subject text);')
  await define('create table things (id integer primary key, name text not null, note text);')
  const before = await shapeOf(db)
  await define(statements)
  expect(contractions(before, await shapeOf(db))).toEqual(found)
})

/** A folder with the real migrations and further ones. */
async function openFolder(further: Record<string, string>) {
  const path = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-migrations-'))
  const write = (name: string, source: string) => writeFile(join(path, `${name}.js`), source)
  for (const [name, url] of await listMigrations()) await write(name, `export * from '${url!.href}'`)
  for (const [name, source] of Object.entries(further)) await write(name, source)
  return { url: pathToFileURL(`${path}/`), [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}

const creating = (table: string, more = '') => `
  export const up = (db) => db.schema.createTable('${table}').addColumn('id', 'integer').execute()
  export const down = (db) => db.schema.dropTable('${table}').execute()
  ${more}`

test('one migration and those after it are taken back in one transaction, in the order they were applied', async () => {
  await using forge = await startForge()
  const { store, db } = forge.app
  await using first = await openFolder({ '2099-02-01-0900-later': creating('later', `export const lost = 'a list'`) })
  await migrate(store, first.url)
  await using folder = await openFolder({
    '2099-01-01-0900-earlier': creating('earlier'),
    '2099-02-01-0900-later': creating('later', `export const lost = 'a list'`),
    '2099-03-01-0900-stuck': `export const up = () => {}
      export const down = () => { throw new Error('not while it rains') }`,
  })
  await migrate(store, folder.url)

  expect(await stepsBack(store, '2099-02-01-0900-later', folder.url)).toEqual([
    { name: '2099-03-01-0900-stuck', lost: null },
    { name: '2099-01-01-0900-earlier', lost: null },
    { name: '2099-02-01-0900-later', lost: 'a list' },
  ])
  const all = await stepsBack(store, null, folder.url)
  expect(all.map(({ name }) => name)).toEqual([
    '2099-03-01-0900-stuck',
    '2099-01-01-0900-earlier',
    '2099-02-01-0900-later',
    ...LATER.map(([name]) => name)
      .filter((name) => name > RELEASED)
      .toReversed(),
  ])
  const before = await describeSchema(db)
  const [stuck, earlier, ...rest] = all
  await expect(takeBack(store, [earlier!, stuck!, ...rest], folder.url)).rejects.toThrow(
    '2099-03-01-0900-stuck cannot be taken back: not while it rains',
  )
  expect(await describeSchema(db)).toEqual(before)
  expect(await migrate(store, folder.url)).toEqual([])

  await takeBack(store, [earlier!], folder.url)
  await expect(takeBack(store, [earlier!], folder.url)).rejects.toThrow('another process has changed the database')
  expect(await migrate(store, folder.url)).toEqual(['2099-01-01-0900-earlier'])
})

test.each([
  ['000-baseline', '000-baseline cannot be taken back'],
  ['2099-01-01-0900-none', 'the database has no migration 2099-01-01-0900-none'],
])('%s is refused', async (name, message) => {
  await using forge = await startForge()
  await expect(stepsBack(forge.app.store, name)).rejects.toThrow(message)
})

test('what a newer version applied is left to that version', async () => {
  await using forge = await startForge()
  const { store, db } = forge.app
  await using folder = await openFolder({ '2099-01-01-0900-newer': creating('newer') })
  await migrate(store, folder.url)
  for (const first of [null, LATER[0]![0]])
    await expect(stepsBack(store, first)).rejects.toThrow(
      'a newer version of Mortise has applied 2099-01-01-0900-newer, and only that version can take it back',
    )
  expect((await sql`select * from newer`.execute(db)).rows).toEqual([])
})
