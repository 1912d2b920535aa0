import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { startForge } from '../forge.ts'
import { TEMPORARY_FOLDER } from '../lib/files/temporary-folder.ts'
import { listMigrations } from './history.ts'
import { migrate } from './migrate.ts'

const APPLIED = [...(await listMigrations()).keys()]

/** A folder with the real migrations by name, which throw when they are loaded. */
async function openFolder() {
  const path = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-migrations-'))
  const write = (name: string, source: string) => writeFile(join(path, `${name}.js`), source)
  for (const name of APPLIED) await write(name, `throw new Error('${name} was loaded')`)
  return {
    url: pathToFileURL(`${path}/`),
    write,
    creating: (name: string, table: string) =>
      write(name, `export const up = (db) => db.schema.createTable('${table}').addColumn('id', 'integer').execute()`),
    remove: (name: string) => rm(join(path, `${name}.js`)),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  }
}

test('each is named by its time, except the baseline', () => {
  const [baseline, ...timed] = APPLIED
  expect(baseline).toBe('000-baseline')
  for (const name of timed) {
    const [, day, hours, minutes] = /^(\d{4}-\d\d-\d\d)-(\d\d)(\d\d)(-[a-z0-9]+)+$/.exec(name) ?? [name]
    const time = `${day}T${hours}:${minutes}:00.000Z`
    expect(new Date(time).toJSON(), `${name} is not like 2026-11-16-1200-labels`).toBe(time)
  }
})

test('two that were written side by side are applied in any order, and what was applied is not loaded', async () => {
  await using forge = await startForge()
  await using folder = await openFolder()
  const { store, db } = forge.app
  await folder.creating('2099-02-01-0900-later', 'later')
  expect(await migrate(store, folder.url)).toEqual(['2099-02-01-0900-later'])
  await folder.creating('2099-01-01-0900-earlier', 'earlier')
  await folder.creating('2099-03-01-0900-last', 'last')
  expect(await migrate(store, folder.url)).toEqual(['2099-01-01-0900-earlier', '2099-03-01-0900-last'])
  expect(await migrate(store, folder.url)).toEqual([])
  const tables = (await db.introspection.getTables()).map(({ name }) => name)
  expect(tables).toEqual(expect.arrayContaining(['earlier', 'last', 'later']))
})

test('one that fails leaves nothing of itself', async () => {
  await using forge = await startForge()
  await using folder = await openFolder()
  const { store, db } = forge.app
  await folder.write(
    '2099-01-01-0900-half',
    `export async function up(db) {
      await db.schema.createTable('half').addColumn('id', 'integer').execute()
      throw new Error('not this one')
    }`,
  )
  await expect(migrate(store, folder.url)).rejects.toThrow('not this one')
  expect((await db.introspection.getTables()).map(({ name }) => name)).not.toContain('half')
  await folder.remove('2099-01-01-0900-half')
  expect(await migrate(store, folder.url)).toEqual([])
})

test('a store that knows more than the program is refused', async () => {
  await using forge = await startForge()
  await using folder = await openFolder()
  await folder.creating('2099-01-01-0900-newer', 'newer')
  await migrate(forge.app.store, folder.url)
  await expect(migrate(forge.app.store)).rejects.toThrow(
    'previously executed migration 2099-01-01-0900-newer is missing',
  )
  await folder.remove('2099-01-01-0900-newer')
  await folder.creating('2099-02-01-0900-other', 'other')
  await expect(migrate(forge.app.store, folder.url)).rejects.toThrow('2099-01-01-0900-newer is missing')
})
