import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plant, type Tree } from '../test/planted.ts'
import { checkWrites } from './check-writes.ts'

const labels = 'src/features/planning/labels'
const issues = 'src/features/planning/issues'
const users = 'src/features/identity/users'

const declaring = (...tables: string[]) => `declare module '../../../store/database.ts' {
  interface Tables {
${tables.map((table) => `    /** One of them. */\n    ${table}: {\n      id: number\n    }`).join('\n')}
  }
  interface Events {
    'no.table': { id: number }
  }
}
`

const models: Tree = {
  [`${labels}/model.ts`]: declaring('labels', 'label_links'),
  [`${issues}/model.ts`]: declaring('issues'),
  [`${users}/model.ts`]: declaring('users'),
  'src/store/outbox.ts': declaring('events'),
}

function check(tree: Tree) {
  using planted = plant({ ...models, ...tree })
  return checkWrites(planted.root)
}

test('a family writes its own tables, and reads any', () => {
  const source = `
    db.insertInto('labels')
    db.updateTable('labels as l')
    db.deleteFrom('label_links')
    db.selectFrom('users').innerJoin('issues')
    // db.insertInto('users')
    const text = 'insert into the list'
    sql\`insert into label_links select id from users\``
  expect(check({ [`${labels}/service.ts`]: source, [`${labels}/jobs.ts`]: source })).toEqual({
    tables: 5,
    violations: [],
    reports: [],
  })
})

test.each([
  ['insertInto', `db.insertInto('users')`],
  ['updateTable', `db.updateTable('users as u')`],
  ['deleteFrom', `db.deleteFrom('users')`],
  ['replaceInto', `db.replaceInto('users')`],
  ['mergeInto', `db\n.mergeInto('users')`],
  ['a line of its own', `db.insertInto(\n'users',\n)`],
  ['raw insert', 'sql`insert into users (id) values (1)`'],
  ['raw insert or ignore', 'sql`INSERT OR IGNORE INTO users (id) values (1)`'],
  ['raw update', `sql\`update users as u\nset id = 1\``],
  ['raw delete', 'sql`delete from "users"`'],
  ['raw, in a common table expression', 'sql`with gone as (delete from users returning id) select 1`'],
  ['a constant', `const table = 'users'\ndb.insertInto(table)`],
  ['one of several', `for (const table of ['labels', 'users'] as const) db.deleteFrom(table)`],
  ['a constant, raw', "const table = { users: 'users' }\nsql`insert into ${sql.table(table.users)}`"],
])('another context must not write: %s', (_how, source) => {
  const { violations } = check({ [`${labels}/service.ts`]: source })
  expect(violations).toEqual([
    expect.stringMatching(new RegExp(`^${labels}/service.ts:\\d writes users: only identity/users writes it$`)),
  ])
})

test('to lock or to conflict is not to write', () => {
  const source = 'sql`select id from users for update`\nsql`insert into labels on conflict do update set id = 1`'
  expect(check({ [`${labels}/service.ts`]: source })).toMatchObject({ violations: [], reports: [] })
})

test('only features write their tables, layers above them do not', () => {
  const source = `db.insertInto('users')`
  expect(
    check({
      'src/forge.ts': source,
      'src/transport/web.ts': source,
      'src/features/v4.ts': source,
      'src/jobs/worker.ts': source,
      'src/store/migrations/001-first.ts': source,
      'src/transport/web.test.ts': source,
    }).violations,
  ).toEqual([
    'src/features/v4.ts:1 writes users: only identity/users writes it',
    'src/forge.ts:1 writes users: only identity/users writes it',
    'src/jobs/worker.ts:1 writes users: only identity/users writes it',
    'src/transport/web.ts:1 writes users: only identity/users writes it',
  ])
})

test('families of one context are reported, and so are the halves of the kit', () => {
  const tree = {
    [`${labels}/service.ts`]: `db.insertInto('issues')`,
    'src/features/planning/shared.ts': `\ndb.insertInto('issues')`,
    'src/jobs/worker.ts': `db.updateTable('events')`,
  }
  expect(check(tree)).toEqual({
    tables: 5,
    violations: [],
    reports: [
      `${labels}/service.ts:1 writes issues of planning/issues`,
      'src/features/planning/shared.ts:2 writes issues of planning/issues',
      'src/jobs/worker.ts:1 writes events of store',
    ],
  })
})

test('a table named by an expression is looked for in the file, then beside it', () => {
  const [one, other] = [`import { TABLES } from './tables.ts'`, `db.insertInto(TABLES.first)`]
  const tables = (name: string) => ({ [`${labels}/tables.ts`]: `export const TABLES = { first: '${name}' }` })
  const service = { [`${labels}/service.ts`]: `${one}\n${other}` }
  expect(check({ ...service, ...tables('labels') }).violations).toEqual([])
  expect(check({ ...service, ...tables('users') }).violations).toEqual([
    `${labels}/service.ts:2 writes users: only identity/users writes it`,
  ])
  expect(check({ [`${labels}/service.ts`]: `db.insertInto(given)` }).violations).toEqual([
    `${labels}/service.ts:1 writes a table that is named nowhere near`,
  ])
})

test('a table has one owner', () => {
  expect(check({ [`${labels}/service.ts`]: `db.insertInto('colours')` }).violations).toEqual([
    `${labels}/service.ts:1 writes colours, which no model.ts declares`,
  ])
  expect(check({ 'src/features/planning/boards/model.ts': declaring('labels') }).violations).toEqual([
    `${labels}/model.ts:1 declares labels, which is planning/boards's`,
  ])
})

test('the command prints what it found and exits accordingly', () => {
  const script = join(import.meta.dirname, 'check-writes.ts')
  const run = (...args: string[]) => {
    const { status, stdout } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
    return { status, stdout }
  }
  using good = plant({ ...models, [`${labels}/service.ts`]: `db.insertInto('issues')` })
  using bad = plant({ ...models, [`${labels}/service.ts`]: `db.insertInto('users')` })

  const summary = 'writes: 5 tables, in order; 1 writes by a neighbour, listed by --all\n'
  expect(run(good.root)).toEqual({ status: 0, stdout: summary })
  expect(run(good.root, '--all')).toEqual({
    status: 0,
    stdout: `${labels}/service.ts:1 writes issues of planning/issues\n${summary}`,
  })
  expect(run(bad.root)).toEqual({
    status: 1,
    stdout: `${labels}/service.ts:1 writes users: only identity/users writes it\n`,
  })
})
