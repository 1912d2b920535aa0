import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { plant, type Tree } from '../test/planted.ts'
import { checkImports } from './check-imports.ts'

function violationsOf(tree: Tree): string[] {
  using planted = plant(tree)
  return checkImports(planted.root).violations
}

const labels = 'src/features/planning/labels'
const users = 'src/features/identity/users'

test('a tree that keeps every rule is in order', () => {
  expect(
    violationsOf({
      'src/main.ts': `import { startForge } from './forge.ts'`,
      'src/forge.ts': `import { createApp } from './app.ts'`,
      'src/app.ts': `import { v4 } from './features/v4.ts'\nimport './transport/ssh.ts'`,
      'src/transport/ssh.ts': `import { findUser } from '../features/identity/users/queries.ts'`,
      'src/features/v4.ts': `import * as named from './families.ts'`,
      'src/features/families.ts': `export { labels } from './planning/labels/family.ts'`,
      [`${labels}/family.ts`]: `import * as routes from './routes.ts'`,
      [`${labels}/routes.ts`]: `import { addLabel } from './service.ts'\nimport { endpoint } from '../../../api/endpoint.ts'`,
      [`${labels}/service.ts`]: `import { findLabel } from './queries.ts'\nimport { findUser } from '../../identity/users/queries.ts'`,
      [`${labels}/queries.ts`]: `import { db } from '../../../store/db.ts'`,
      [`${labels}/policy.ts`]: `import type { Label } from './queries.ts'\nimport type { Row } from '../../../store/db.ts'`,
      [`${labels}/entity.ts`]: `import { z } from 'zod'\nimport { presentUser } from '../../identity/users/entity.ts'`,
      [`${users}/queries.ts`]: `import type { Label } from '../../planning/labels/queries.ts'`,
      [`${users}/entity.ts`]: `import type { Stats } from 'node:fs'`,
      'src/api/endpoint.ts': `import type { App } from '../context.ts'`,
      'src/context.ts': `import type { Db } from './store/db.ts'`,
      'src/jobs/queue.ts': `import { db } from '../store/db.ts'`,
      'src/store/db.ts': `import { config } from '../config.ts'\nimport { slug } from '../lib/slug.ts'`,
      'src/config.ts': `import { Refusal } from './errors.ts'`,
      'src/lib/slug.ts': `import { words } from './words.ts'\nimport { readFileSync } from 'node:fs'`,
      'src/lib/slug.test.ts': `import { startForge } from '../forge.ts'\nimport './slug'`,
      [`${users}/cases.ts`]: `import { casesOf } from '../../../../test/cases.ts'\nimport './routes.ts'`,
    }),
  ).toEqual([])
})

test.each<[rule: string, importer: string, source: string, target: string, words: string]>([
  [
    'layers point one way',
    'src/store/db.ts',
    `import { a } from '../api/a.ts'`,
    'src/api/a.ts',
    'store must not import api, which stands above it',
  ],
  [
    'migrations import frozen helpers',
    'src/store/migrations/2099-01-01-0900-labels.ts',
    `import { isSqlite } from '../dialect.ts'\nimport { columnTypes } from './helpers/columns.ts'`,
    'src/store/dialect.ts',
    'a migration imports only what never changes: copy it to migrations/helpers',
  ],
  [
    'types keep to the layers too',
    'src/api/a.ts',
    `import type { A } from '../app.ts'`,
    'src/app.ts',
    'api must not import app, which stands above it',
  ],
  [
    'forge does not import main',
    'src/forge.ts',
    `import './main.ts'`,
    'src/main.ts',
    'forge must not import main, which stands above it',
  ],
  [
    're-exports count',
    'src/context.ts',
    `export * from './api/a.ts'`,
    'src/api/a.ts',
    'context must not import api, which stands above it',
  ],
  [
    'import() counts',
    'src/context.ts',
    `const a = await import('./api/a.ts')`,
    'src/api/a.ts',
    'context must not import api, which stands above it',
  ],
  [
    'errors import only lib',
    'src/errors.ts',
    `import { db } from './store/db.ts'`,
    'src/store/db.ts',
    'errors must not import store, which stands above it',
  ],
  [
    'git knows no store',
    'src/git/refs.ts',
    `import { db } from '../store/db.ts'`,
    'src/store/db.ts',
    'git knows nothing of store',
  ],
  [
    'store knows no git',
    'src/store/db.ts',
    `import { tip } from '../git/refs.ts'`,
    'src/git/refs.ts',
    'store knows nothing of git',
  ],
  [
    'lib stands alone',
    'src/lib/slug.ts',
    `import { Refusal } from '../errors.ts'`,
    'src/errors.ts',
    'lib imports nothing of ours outside lib',
  ],
  [
    'lib reads no data of ours',
    'src/lib/slug.ts',
    `import words from '../words.json'`,
    'src/words.json',
    'lib imports nothing of ours outside lib',
  ],
  [
    'src stands alone',
    'src/app.ts',
    `import { build } from '../test/build.ts'`,
    'test/build.ts',
    'src imports no code from outside src',
  ],
  [
    'a family does not import its cases',
    `${labels}/service.ts`,
    `import { cases } from './cases.ts'`,
    `${labels}/cases.ts`,
    'tests are no part of the program',
  ],
  [
    'code does not import a test',
    'src/app.ts',
    `import './app.test.ts'`,
    'src/app.test.ts',
    'tests are no part of the program',
  ],
  [
    'cases are a role of families only',
    'src/api/cases.ts',
    `import { build } from '../../test/build.ts'`,
    'test/build.ts',
    'src imports no code from outside src',
  ],
  [
    'routes are imported by their family only',
    `${labels}/service.ts`,
    `import { list } from './routes.ts'`,
    `${labels}/routes.ts`,
    'nobody imports routes.ts but its family.ts',
  ],
  [
    'a family is imported by the table of contents only',
    `${users}/service.ts`,
    `import { users } from './family.ts'`,
    `${users}/family.ts`,
    'nobody imports family.ts but families.ts',
  ],
  [
    'a policy does not call the store',
    `${labels}/policy.ts`,
    `import { db } from '../../../store/db.ts'`,
    'src/store/db.ts',
    'policy.ts does no I/O, only import type',
  ],
  [
    'a policy does not call git',
    `${labels}/policy.ts`,
    `import { tip } from '../../../git/refs.ts'`,
    'src/git/refs.ts',
    'policy.ts does no I/O, only import type',
  ],
  [
    'an entity does not call queries',
    `${labels}/entity.ts`,
    `import { type A, b } from './queries.ts'`,
    `${labels}/queries.ts`,
    'entity.ts does no I/O, only import type',
  ],
  [
    'an entity does not call a service',
    `${labels}/entity.ts`,
    `import { b } from './service.ts'`,
    `${labels}/service.ts`,
    'entity.ts does no I/O, only import type',
  ],
  [
    'an entity reads no files',
    `${labels}/entity.ts`,
    `import { readFile } from 'node:fs/promises'`,
    'node:fs/promises',
    'entity.ts does no I/O, only import type',
  ],
  [
    'inline types load the module',
    `${labels}/policy.ts`,
    `import { type A, type B } from './queries.ts'`,
    `${labels}/queries.ts`,
    'policy.ts does no I/O, only import type (write import type: import { type … } loads the module)',
  ],
  [
    'queries do not import a service',
    `${labels}/queries.ts`,
    `import { b } from './service.ts'`,
    `${labels}/service.ts`,
    'queries.ts must not import service.ts',
  ],
  [
    'contexts call rightwards',
    `${users}/service.ts`,
    `import { b } from '../../planning/labels/service.ts'`,
    `${labels}/service.ts`,
    'identity must not call planning: emit an event instead',
  ],
  [
    'extensions are written',
    'src/app.ts',
    `import { b } from './context'`,
    'src/context',
    'relative imports carry a written extension',
  ],
  [
    'a dot in a name is no extension',
    'src/app.ts',
    `import { b } from './context.model'`,
    'src/context.model',
    'relative imports carry a written extension',
  ],
  [
    'a file does not import itself',
    'src/app.ts',
    `import { b } from './app.ts'`,
    'src/app.ts',
    'closes the cycle src/app.ts → src/app.ts',
  ],
])('%s', (_rule, importer, source, target, words) => {
  expect(violationsOf({ [importer]: source })).toEqual([`${importer}:1 imports ${target}: ${words}`])
})

test('a folder or context missing from the tables is reported', () => {
  const tree = { 'src/utils/a.ts': '', 'src/features/chat/rooms/service.ts': '', 'src/helpers.ts': '' }
  expect(violationsOf(tree)).toEqual([
    'src/features/chat/rooms/service.ts:1 is in no context',
    'src/helpers.ts:1 is in no layer',
    'src/utils/a.ts:1 is in no layer',
  ])
})

test('a cycle is reported once, one closed by a type too, but not one closed by a declaration', () => {
  const tree = {
    'src/lib/a.ts': `\nimport { b } from './b.ts'`,
    'src/lib/b.ts': `import { c } from './c.ts'`,
    'src/lib/c.ts': `// back\nimport { a } from './a.ts'`,
  }
  expect(violationsOf(tree)).toEqual([
    'src/lib/c.ts:2 imports src/lib/a.ts: closes the cycle src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts',
  ])
  expect(violationsOf({ ...tree, 'src/lib/c.ts': `import type { A } from './a.ts'` })).toEqual([
    'src/lib/c.ts:1 imports src/lib/a.ts: closes the cycle src/lib/a.ts → src/lib/b.ts → src/lib/c.ts → src/lib/a.ts',
  ])
  expect(violationsOf({ ...tree, 'src/lib/c.ts': `declare module './a.ts' { interface A {} }` })).toEqual([])
})

test('cycles are found in pages, benches and tests as well', () => {
  const tree = {
    'web/app.tsx': `import { Form } from './Form.tsx'`,
    'web/Form.tsx': `import type { App } from './app.tsx'`,
  }
  expect(violationsOf(tree)).toEqual([
    'web/app.tsx:1 imports web/Form.tsx: closes the cycle web/Form.tsx → web/app.tsx → web/Form.tsx',
  ])
  expect(violationsOf({ 'bench/a.ts': `import './b.ts'`, 'bench/b.ts': `import './a.ts'` })).toHaveLength(1)
  expect(violationsOf({ 'test/a.ts': `import './b.test.ts'`, 'test/b.test.ts': `import './a.ts'` })).toHaveLength(1)
})

test('statements over several lines are read, comments and text are not', () => {
  const source = `
    /* import { a } from '../app.ts' */
    // import { a } from '../app.ts'
    const text = \`
import { a } from '../app.ts'
\`
    const accept = 'image/*'
    import { z } from 'zod' // apostrophes: don't
    export const from = '../app.ts'
    import {
      type First,
      second,
    } from '../app.ts'
    export type {
      Third,
    } from '../main.ts'
    type Fourth = import('../forge.ts').Fourth`
  expect(violationsOf({ 'src/store/db.ts': source })).toEqual([
    'src/store/db.ts:10 imports src/app.ts: store must not import app, which stands above it',
    'src/store/db.ts:14 imports src/main.ts: store must not import main, which stands above it',
    'src/store/db.ts:17 imports src/forge.ts: store must not import forge, which stands above it',
  ])
})

test('the command prints what it found and exits accordingly', () => {
  const script = join(import.meta.dirname, 'check-imports.ts')
  const check = (root: string) => {
    const { status, stdout } = spawnSync(process.execPath, [script, root], { encoding: 'utf8' })
    return { status, stdout }
  }
  using good = plant({ 'src/app.ts': `import './lib/a.ts'`, 'src/lib/a.ts': '', 'src/lib/a.test.ts': '' })
  using bad = plant({ 'src/lib/a.ts': `import '../app.ts'` })

  expect(check(good.root)).toEqual({ status: 0, stdout: 'imports: 3 files, in order\n' })
  expect(check(bad.root)).toEqual({
    status: 1,
    stdout: 'src/lib/a.ts:1 imports src/app.ts: lib imports nothing of ours outside lib\n',
  })
})
