// Checks which code writes which tables under src/: `node scripts/check-writes.ts [root] [--all]`. A table belongs to
// the family whose model.ts declares it. Another context must not write it; another family of the same context should
// not, and is counted. All code may read. Migrations and tests may write any table.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { isTest } from './check-imports.ts'

/** An owner and writer of tables: a family with its context; in the kit, a layer. */
type Owner = { context: string; family: string }

/** Helpers of the store get the table as an argument, the kit of items the descriptor of its owner; a restore fills all. */
const GIVEN = ['src/store/', 'src/features/planning/items/', 'src/backup/']

/**
 * A restored project or group: `copy.ts` inserts the rows of all its tables into the instance, the others write to the
 * temporary database that the rows come from.
 */
const RESTORING = ['copy', 'selection', 'subject'].map((name) => `src/backup/only/${name}.ts`)

type Source = { path: string; code: string }

type Write = { path: string; line: number; table: string }

/** The outbox and the queue that delivers it belong together. */
const KIT = ['store', 'jobs']

function ownerOf(path: string): Owner {
  const [, layer = '', context = '', ...rest] = path.split('/')
  if (KIT.includes(layer)) return { context: KIT.join(' and '), family: layer }
  if (layer !== 'features' || rest.length === 0) return { context: layer.replace(/\.ts$/, ''), family: layer }
  return { context, family: rest.length > 1 ? `${context}/${rest[0]}` : context }
}

const tokens = /`(?:\\[^]|[^`\\])*`|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|\/\*[^]*?\*\/|\/\/.*/g

/** Replaces some tokens by blanks; line numbers stay correct. */
const without = (what: RegExp, source: string) =>
  source.replace(tokens, (token) => (what.test(token) ? token.replace(/[^\n]/g, ' ') : token))
const withoutComments = (source: string) => without(/^\//, source)
/** SQL is between backticks; other strings may contain anything. */
const withoutQuotes = (code: string) => without(/^['"]/, code)

/** Relies on the formatting: `interface Tables` with each table at the fourth column. */
function declaredIn({ code }: Source): string[] {
  const [, block = ''] = /\binterface Tables \{\n([^]*?)\n {2}\}/.exec(code) ?? []
  return Array.from(block.matchAll(/^ {4}(\w+):/gm), ([, table]) => table!)
}

const built = /\.(?:insertInto|updateTable|deleteFrom|replaceInto|mergeInto)\(\s*(?:'(?<table>\w+)(?: as \w+)?')?/g
const raw =
  /\b(?:(?:insert(?: or \w+)?|replace)\s+into|merge\s+into(?=\s+\S+\s+(?:as\s+\w+\s+)?using\b)|delete\s+from|update(?=\s+\S+\s+(?:as\s+\w+\s+)?set\b))\s+"?(?:(?<table>\w+)|\$\{)/gi
/** Names in constants, not names that a query reads from. */
const kept = /(?<=[[:,=?|]\s*)'(\w+)'/g

function writesOf(source: Source, owners: Map<string, Owner>, sources: Map<string, Source>): Write[] {
  const { path, code } = source
  return [...code.matchAll(built), ...withoutQuotes(code).matchAll(raw)].flatMap(({ index, groups }) => {
    const line = code.slice(0, index).split('\n').length
    const table = groups?.['table']
    return (table ? [table] : possible(source, owners, sources)).map((table) => ({ path, line, table }))
  })
}

/** A table named by an expression may be any table whose name is in this file, or else in its neighbours. */
function possible({ path, code }: Source, owners: Map<string, Owner>, sources: Map<string, Source>): string[] {
  const namesIn = (text: string) =>
    Array.from(text.matchAll(kept), ([, name]) => name!).filter((name) => owners.has(name))
  const neighbours = Array.from(code.matchAll(/ from '(\.\/[^']+)'/g), ([, file]) =>
    sources.get(posix.join(dirname(path), file!)),
  )
  const own = namesIn(code)
  const names = own.length > 0 ? own : neighbours.flatMap((neighbour) => namesIn(neighbour?.code ?? ''))
  return names.length > 0 ? [...new Set(names)] : ['?']
}

export function checkWrites(root: string): { tables: number; violations: string[]; reports: string[] } {
  const paths = globSync('src/**/*.ts', { cwd: root })
    .filter((path) => !isTest(path) && !path.startsWith('src/store/migrations/'))
    .toSorted()
  const sources = new Map(
    paths.map((path) => [path, { path, code: withoutComments(readFileSync(join(root, path), 'utf8')) }]),
  )
  const owners = new Map<string, Owner>()
  const violations: string[] = []
  const reports: string[] = []
  for (const source of sources.values()) {
    for (const table of declaredIn(source)) {
      const other = owners.get(table)
      if (other) violations.push(`${source.path}:1 declares ${table}, which is ${other.family}'s`)
      owners.set(table, ownerOf(source.path))
    }
  }
  for (const { path, line, table } of [...sources.values()].flatMap((source) => writesOf(source, owners, sources))) {
    const writer = ownerOf(path)
    const owner = owners.get(table)
    const what = `${path}:${line} writes ${table}`
    if (RESTORING.includes(path)) continue
    if (table === '?' && GIVEN.some((folder) => path.startsWith(folder))) continue
    if (table === '?') violations.push(`${path}:${line} writes a table that is named nowhere near`)
    else if (!owner) violations.push(`${what}, which no model.ts declares`)
    else if (owner.context !== writer.context) violations.push(`${what}: only ${owner.family} writes it`)
    else if (owner.family !== writer.family) reports.push(`${what} of ${owner.family}`)
  }
  return { tables: owners.size, violations, reports }
}

if (import.meta.main) {
  const [root = process.cwd()] = process.argv.slice(2).filter((argument) => argument !== '--all')
  const { tables, violations, reports } = checkWrites(root)
  if (process.argv.includes('--all')) for (const report of reports) console.log(report)
  const inContext = reports.length > 0 ? `; ${reports.length} writes by a neighbour, listed by --all` : ''
  console.log(violations.length > 0 ? violations.join('\n') : `writes: ${tables} tables, in order${inContext}`)
  process.exitCode = violations.length > 0 ? 1 : 0
}
