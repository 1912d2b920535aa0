/** Nothing that a family has is left out of the registry, and what the registry says is true of the real schema. */
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { projectBy } from '../../test/projects.ts'
import { routerOf } from '../api/router.ts'
import { startForge } from '../forge.ts'
import { isSqlite } from '../store/dialect.ts'
import * as named from './families.ts'
import { itemKinds } from './planning/items/registry.ts'
import { blobColumns, onUserRemoved, jobs, reactions, v4, web } from './v4.ts'

const HERE = import.meta.dirname
const sources = globSync('*/**/*.ts', { cwd: HERE })
  .filter((path) => !path.endsWith('.test.ts'))
  .toSorted()
const textOf = (path: string) => readFileSync(join(HERE, path), 'utf8')
const exportsOf = async (path: string) => (await import(join(HERE, path))) as Record<string, unknown>

/** `path name` of everything exported by some files that a registry does not hold. */
async function missing(paths: readonly string[], registry: readonly unknown[], names = /^/): Promise<string[]> {
  const found = await Promise.all(
    paths.map(async (path) =>
      Object.entries(await exportsOf(path))
        .filter(([name, value]) => names.test(name) && !registry.includes(value))
        .map(([name]) => `${path} ${name}`),
    ),
  )
  return found.flat()
}

const ROLES = /^(.+-)?(routes|web)\.ts$|^(jobs|on|user-removal)\.ts$/

test('a folder with anything to register has a family.ts, and families.ts names it', async () => {
  const folders = new Set(sources.filter((path) => ROLES.test(basename(path))).map((path) => dirname(path)))
  expect(folders.size).toBeGreaterThan(50)
  expect([...folders].filter((folder) => !sources.includes(join(folder, 'family.ts')))).toEqual([])
  expect(
    await missing(
      sources.filter((path) => basename(path) === 'family.ts'),
      Object.values(named),
    ),
  ).toEqual([])
})

test('every endpoint, page and user removal is registered', async () => {
  const withRole = (role: RegExp) => sources.filter((path) => role.test(basename(path)))
  expect(await missing(withRole(/^(.+-)?routes\.ts$/), v4)).toEqual([])
  expect(await missing(withRole(/^(.+-)?web\.ts$/), web)).toEqual([])
  expect(await missing(withRole(/^user-removal\.ts$/), onUserRemoved)).toEqual([])
  // Wherever else they stand.
  for (const [type, registry] of [
    ['OnUserRemoved', onUserRemoved],
    ['WebRoutes', web],
  ] as const) {
    const declared = sources.filter((path) => textOf(path).includes(`: ${type} =`))
    expect(declared.length).toBeGreaterThan(0)
    for (const path of declared) {
      const names = Array.from(textOf(path).matchAll(new RegExp(`(\\w+): ${type} =`, 'g')), ([, name]) => name)
      expect(await missing([path], registry, new RegExp(`^(${names.join('|')})$`))).toEqual([])
    }
  }
})

test('every job and reaction is registered, under a name of its own', () => {
  const made = /(?<![.\w])(?:job|on)(?:<[^(]*>)?\((?:\s*'([^']+)'(?!,\s*`)(?:,\s*'([^']+)')?)?/g
  const calls = sources.flatMap((path) => [...textOf(path).matchAll(made)])
  const names = calls.map(([, name, subscriber]) => (subscriber ? `${name} → ${subscriber}` : name))
  const registered = [...jobs, ...reactions].map(({ name }) => name)
  expect(names.filter((name) => name && !registered.includes(name))).toEqual([])
  // A name may be a constant. A reaction for every kind of item is registered once per kind.
  const ofKind = /(?<![.\w])on\(\s*(?:`\$\{kind\.key\}|'[^']+',\s*`\$\{noun\})/g
  const perKind = sources.flatMap((path) => textOf(path).match(ofKind) ?? [])
  expect(registered).toHaveLength(calls.length + perKind.length * (itemKinds().length - 1))
  expect(new Set(registered).size).toBe(registered.length)
})

/** Columns of digests that name a secret, not a blob. New ones say so in their name. */
const SECRETS = /(password|refresh|secret|token)_digest$/
const OLDER_SECRETS = [
  'access_tokens.digest',
  'deploy_tokens.digest',
  'mailed_links.digest',
  'oauth_grants.digest',
  'oauth_tokens.digest',
  'sessions.digest',
]

test('every column that names a blob is registered, and has an index to be asked by', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const columns = (await db.introspection.getTables()).flatMap(({ name, columns }) =>
    columns.map((column) => `${name}.${column.name}`),
  )
  const naming = columns.filter((column) => /[._](blob|digest|oid)$/.test(column) && !SECRETS.test(column))
  const declared = blobColumns.map(({ table, column }) => `${table}.${column}`)
  expect(naming.filter((column) => !OLDER_SECRETS.includes(column)).toSorted()).toEqual(declared.toSorted())
  expect(columns).toEqual(expect.arrayContaining(OLDER_SECRETS))

  const indexed = isSqlite(db)
    ? sql<{ name: string }>`select m.name || '.' || c.name as name from sqlite_schema m
        join pragma_index_list(m.name) i join pragma_index_info(i.name) c where m.type = 'table' and c.seqno = 0`
    : sql<{ name: string }>`select a.attrelid::regclass || '.' || a.attname as name from pg_index i
        join pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[0]`
  const { rows } = await indexed.execute(db)
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining(declared))
})

test('an address leads to the same endpoint in whichever order the routes were added', () => {
  const [one, other] = [routerOf(v4), routerOf(v4.toReversed())]
  for (const { method, path } of v4) {
    const address = `/api/v4${path
      .replace(/:\w+\(\\d\+\)/g, '7')
      .replace(/:\w+(\([^)]+\))?/g, 'word')
      .replace('*', 'a/b')}`
    const found = one.find(method, address)?.store
    expect(found, address).toBeDefined()
    expect(other.find(method, address)?.store, address).toEqual(found)
  }
})

test.each([
  ['in order', onUserRemoved],
  ['in the reverse order', onUserRemoved.toReversed()],
])('a user who cannot be deleted keeps everything, asked %s', async (_order, asked) => {
  await using forge = await startForge()
  Object.assign(forge.app, { onUserRemoved: asked })
  const jane = await forge.user()
  await forge.group({}, jane)
  const { id } = await projectBy(jane, 'own')
  const events = await forge.events()
  expect(await forge.administrator.delete(`/users/${jane.id}`)).toMatchObject({ status: 409 })
  expect((await jane.get(`/projects/${id}`)).status).toBe(200)
  expect(await forge.events()).toEqual(events)
  expect((await forge.administrator.delete(`/users/${jane.id}`, { hard_delete: true })).status).toBe(204)
  await forge.settle()
  for (const table of ['projects', 'members'] as const)
    expect(await forge.app.db.selectFrom(table).selectAll().execute(), table).toEqual([])
})
