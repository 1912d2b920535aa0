/**
 * Reads a PostgreSQL database in one transaction that sees one commit, as lines of JSON, and writes them back. Needs no
 * tools and no rights but those of the server itself.
 */
import { hash } from 'node:crypto'
import pg from 'pg'
import { CannotStart } from '../config.ts'
import { hasProcessEnded, TAG_PATTERN } from '../lib/async/process-tag.ts'
import { listMigrations } from '../store/history.ts'
import { schemaScript } from '../store/make-schema.ts'
// Sets how the client converts values.
import '../store/postgres.ts'
import { compress, type Archive } from './archive.ts'
import { Damaged, type RowsPart } from './manifest.ts'
import type { Snapshot, Source } from './source.ts'

const ROWS_A_FETCH = 100
/** An object ends at this size, or where the ids reach the next multiple: unchanged rows then give the same object. */
const OBJECT_BYTES = 4 * 1024 * 1024
const IDS_AN_OBJECT = 5000

export async function openPostgresSource(url: string): Promise<Source> {
  const live = await connected(url)
  let last: PostgresSnapshot | null = null
  let stored: Stored | null = null
  return {
    engine: 'postgres',
    async snapshot() {
      await last?.end()
      last = await beginSnapshot(url, stored, (saved) => (stored = saved))
      return last
    },
    rows: (sql) => live.rows(sql),
    async takeLease(destination) {
      // The server notices within 30 seconds that the machine of the connection is gone.
      await live.run('set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3')
      const [row] = await live.rows<{ taken: boolean }>('select pg_try_advisory_lock($1::bigint) as taken', [
        Buffer.from(hash('sha256', `backup ${destination}`), 'hex')
          .readBigInt64BE()
          .toString(),
      ])
      return row!.taken
    },
    // The lock ends with the connection.
    assertLease: async () => void (await live.rows('select 1')),
    async [Symbol.asyncDispose]() {
      await last?.end()
      await live.end()
    },
  }
}

async function beginSnapshot(
  url: string,
  before: Stored | null = null,
  onSaved: (stored: Stored) => void = () => {},
): Promise<PostgresSnapshot> {
  const client = await connected(url)
  // Before the snapshot is taken: everything confirmed until now is part of it. The first query takes the snapshot.
  const time = new Date()
  await client.run(`begin isolation level repeatable read read only; set local timezone to 'UTC'; select 1`)
  return new PostgresSnapshot(time, client, await tablesIn(client), before, onSaved)
}

/** A connection takes one query at a time. */
class Connection {
  readonly #client: pg.Client
  #last: Promise<unknown> = Promise.resolve()

  constructor(client: pg.Client) {
    this.#client = client
  }

  rows<T>(sql: string, values: unknown[] = []): Promise<T[]> {
    const ask = async () => (await this.#client.query(sql, values)).rows as T[]
    const rows = this.#last.then(ask, ask)
    this.#last = rows
    return rows
  }

  /** Several statements, without parameters. */
  async run(sql: string): Promise<void> {
    await this.#client.query(sql)
  }

  end = (): Promise<void> => this.#client.end()
}

async function connected(url: string): Promise<Connection> {
  const client = new pg.Client(url)
  // A query reports the loss of a connection, too.
  client.on('error', () => {})
  await client.connect()
  return new Connection(client)
}

/** Rows with near ids, or all rows of a table without an id. */
interface Range {
  /** Changes with every change of the rows. */
  readonly mark: string
  readonly rows: number
}

interface Table {
  /** Changes all the time, even if nothing happens. */
  readonly isRestless: boolean
  readonly columns: readonly string[]
  readonly key: readonly string[]
  /** The key is a number, so near ids are a range. */
  readonly isNumbered: boolean
  readonly ranges: ReadonlyMap<number, Range>
}

/** The objects of each range, by table and mark. */
type Stored = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>

class PostgresSnapshot implements Snapshot {
  readonly time: Date
  readonly bytes = 0
  readonly #client: Connection
  readonly #tables: ReadonlyMap<string, Table>
  /** What the last saved snapshot has stored; null if there is none. */
  readonly #before: Stored | null
  readonly #onSaved: (stored: Stored) => void
  readonly #stored = new Map<string, Map<string, readonly string[]>>()
  readonly #digests = new Set<string>()

  constructor(
    time: Date,
    client: Connection,
    tables: ReadonlyMap<string, Table>,
    before: Stored | null,
    onSaved: (stored: Stored) => void,
  ) {
    this.time = time
    this.#client = client
    this.#tables = tables
    this.#before = before
    this.#onSaved = onSaved
  }

  get isUnchanged(): boolean {
    return [...this.#tables].every(([name, { isRestless }]) => isRestless || !this.#hasChanged(name))
  }

  /** The lists of tables and columns belong to the complete moment: after a migration, there must be a new one. */
  get changedBytes(): number {
    const isSame = this.#before?.size === this.#tables.size && !this.#hasChanged(MIGRATIONS)
    return isSame ? 0 : Infinity
  }

  #hasChanged(name: string): boolean {
    const before = this.#before?.get(name)
    const marks = [...this.#tables.get(name)!.ranges.values()].map(({ mark }) => mark)
    return before === undefined || before.size !== marks.length || marks.some((mark) => !before.has(mark))
  }

  rows<T>(sql: string): Promise<T[]> {
    return this.#client.rows(sql)
  }

  async countRows(): Promise<Record<string, number>> {
    const count = ({ ranges }: Table) => [...ranges.values()].reduce((sum, { rows }) => sum + rows, 0)
    return Object.fromEntries([...this.#tables].map(([name, table]) => [name, count(table)]))
  }

  /** A new value stands in a row that was stored again. */
  async changedDigests(): Promise<ReadonlySet<string>> {
    return this.#digests
  }

  storeWhole(archive: Archive): Promise<RowsPart> {
    return this.#storeTables(archive, () => true)
  }

  storeChanges(archive: Archive): Promise<RowsPart> {
    return this.#storeTables(archive, (name) => this.#hasChanged(name))
  }

  async #storeTables(archive: Archive, isIncluded: (name: string) => boolean): Promise<RowsPart> {
    const tables: RowsPart['tables'] = {}
    for (const [name, table] of this.#tables) {
      const known = this.#before?.get(name)
      const stored = new Map<string, readonly string[]>()
      for (const [range, { mark }] of table.ranges)
        stored.set(mark, known?.get(mark) ?? (await this.#storeRange(archive, name, table, range)))
      this.#stored.set(name, stored)
      if (isIncluded(name)) tables[name] = [...stored.values()].flat()
    }
    const sequences = await this.rows<{ name: string; value: string; is_called: boolean }>(SEQUENCES)
    return {
      tables,
      sequences: Object.fromEntries(sequences.map(({ name, value, is_called }) => [name, { value, is_called }])),
    }
  }

  async #storeRange(
    archive: Archive,
    name: string,
    { columns, key, isNumbered }: Table,
    range: number,
  ): Promise<string[]> {
    const order = key.length > 0 ? ` order by ${quoted(key)}` : ''
    const first = range * IDS_AN_OBJECT
    const where = isNumbered ? ` where id >= ${first} and id < ${first + IDS_AN_OBJECT}` : ''
    await this.#client.run(
      `declare rows cursor for select row_to_json(t)::text as line from (select ${quoted(columns)} from "${name}"${where}${order}) t`,
    )
    const objects: string[] = []
    let lines: string[] = []
    let bytes = 0
    const store = async () => {
      if (lines.length > 0) objects.push((await archive.put(await compress(Buffer.from(lines.join('\n'))))).digest)
      lines = []
      bytes = 0
    }
    for (;;) {
      const some = await this.rows<{ line: string }>(`fetch ${ROWS_A_FETCH} from rows`)
      for (const { line } of some) {
        if (bytes > OBJECT_BYTES || lines.length === IDS_AN_OBJECT) await store()
        lines.push(line)
        bytes += line.length
        for (const [, digest] of line.matchAll(/"([0-9a-f]{64})"/g)) this.#digests.add(digest!)
      }
      if (some.length < ROWS_A_FETCH) break
    }
    await store()
    await this.#client.run('close rows')
    return objects
  }

  saved(): void {
    this.#onSaved(this.#stored)
  }

  async end(): Promise<void> {
    await this.#client.end()
  }
}

const MIGRATIONS = 'kysely_migration'

/**
 * The tables and the marks of their rows. Every version of a row has its own pair of transaction and place, so other
 * rows have other pairs. A rewritten table has another file, and an added column another list.
 */
async function tablesIn(client: Connection): Promise<Map<string, Table>> {
  const tables = new Map<string, Table>()
  for (const { name, file, is_restless } of await client.rows<TableRow>(TABLES)) {
    const columns = (await client.rows<{ name: string }>(columnsOf(name))).map((column) => column.name)
    const keys = await client.rows<{ name: string; is_number: boolean }>(keysOf(name))
    const key = keys.map((column) => column.name)
    const isNumbered = keys.length === 1 && keys[0]!.name === 'id' && keys[0]!.is_number
    const range = isNumbered ? `id / ${IDS_AN_OBJECT}` : '0'
    const found = await client.rows<{ range: number; rows: number; mark: string }>(
      `select (${range})::int as range, count(*)::int as rows, sum(hashtextextended(xmin::text || ' ' || ctid::text, 0))::text as mark from "${name}" group by 1 order by 1`,
    )
    const shape = `${file} ${columns.join()}`
    const ranges = found.map(
      ({ range, rows, mark }) => [range, { rows, mark: `${range} ${rows} ${mark} ${shape}` }] as const,
    )
    tables.set(name, { isRestless: is_restless, columns, key, isNumbered, ranges: new Map(ranges) })
  }
  return tables
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

interface TableRow {
  readonly name: string
  readonly file: string
  readonly is_restless: boolean
}

const TABLES = `select c.relname as name, c.relfilenode::text as file, c.relname in ('processes') as is_restless from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`

const SEQUENCES = `select sequencename as name, coalesce(last_value, start_value)::text as value, last_value is not null as is_called from pg_sequences where schemaname = current_schema() order by 1`

/** Without those that the database computes. */
const columnsOf = (table: string) =>
  `select attname as name from pg_attribute where attrelid = '"${table}"'::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`

const keysOf = (table: string) =>
  `select a.attname as name, a.atttypid in ('int4'::regtype, 'int8'::regtype) as is_number from pg_index i cross join unnest(i.indkey) with ordinality k(attnum, n) join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum where i.indrelid = '"${table}"'::regclass and i.indisprimary order by k.n`

/** The rows of a small table, without a database. */
export async function readRows<T>(archive: Archive, { tables }: RowsPart, table: string): Promise<T[]> {
  const rows: T[] = []
  for (const digest of tables[table] ?? [])
    for (const line of (await archive.readCompressed(digest)).toString().split('\n')) rows.push(JSON.parse(line) as T)
  return rows
}

/** Fills an empty database in one transaction. Returns the rows by table. */
export async function writeRows(
  archive: Archive,
  url: string,
  schema: readonly string[],
  part: RowsPart,
): Promise<Record<string, number>> {
  const client = await connected(url)
  try {
    await client.run('begin')
    if ((await client.rows(TABLES)).length > 0)
      throw new CannotStart('the database is not empty: restore into an empty database')
    const known = [...(await listMigrations(schema))].filter(([name]) => schema.includes(name))
    await client.run(await schemaScript(new Map(known)))
    const counts = await load(archive, client, part)
    await client.run('commit')
    return counts
  } finally {
    // Without a commit, the transaction ends with the connection.
    await client.end()
  }
}

async function load(archive: Archive, client: Connection, part: RowsPart): Promise<Record<string, number>> {
  const names = (await client.rows<{ name: string }>(TABLES)).map(({ name }) => name)
  const other = Object.keys(part.tables).find((name) => !names.includes(name))
  if (other !== undefined) throw new Damaged('it holds a table with an unknown name')
  const constraints = await client.rows<{ table: string; name: string; definition: string }>(FOREIGN_KEYS)
  for (const { table, name } of constraints) await client.run(`alter table "${table}" drop constraint "${name}"`)
  for (const name of names) await client.run(`alter table "${name}" disable trigger user`)
  await client.run(`truncate ${quoted(names)}`)
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = await loadTable(archive, client, name, part.tables[name] ?? [])
  for (const [name, { value, is_called }] of Object.entries(part.sequences))
    await client.rows(`select setval($1::regclass, $2::bigint, $3)`, [`"${name}"`, value, is_called])
  for (const name of names) await client.run(`alter table "${name}" enable trigger user`)
  for (const { table, name, definition } of constraints)
    await client.run(`alter table "${table}" add constraint "${name}" ${definition}`)
  return counts
}

const FOREIGN_KEYS = `select conrelid::regclass::text as table, conname as name, pg_get_constraintdef(oid) as definition from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace`

const ROWS_AN_INSERT = 500

async function loadTable(
  archive: Archive,
  client: Connection,
  table: string,
  objects: readonly string[],
): Promise<number> {
  const columns = (await client.rows<{ name: string }>(columnsOf(table))).map(({ name }) => name)
  const list = quoted(columns)
  let count = 0
  for (const digest of objects) {
    const lines = (await archive.readCompressed(digest)).toString().split('\n')
    for (let at = 0; at < lines.length; at += ROWS_AN_INSERT) {
      const some = lines.slice(at, at + ROWS_AN_INSERT)
      await client.rows(
        `insert into "${table}" (${list}) select ${list} from json_populate_recordset(null::"${table}", $1::json)`,
        [`[${some.join(',')}]`],
      )
      count += some.length
    }
  }
  return count
}

/** Copies one commit of a database into an empty database, by way of an archive. */
export async function copyDatabase(from: string, to: string, archive: Archive): Promise<void> {
  const snapshot = await beginSnapshot(from)
  try {
    const schema = await snapshot.rows<{ name: string }>('select name from kysely_migration')
    const part = await snapshot.storeWhole(archive)
    await writeRows(
      archive,
      to,
      schema.map(({ name }) => name),
      part,
    )
  } finally {
    await snapshot.end()
  }
}

/** A database beside the given one, for `purpose`. Needs the right to create databases. */
export async function createScratch(
  url: string,
  name: string,
  purpose = 'a proof',
): Promise<AsyncDisposable & { url: string }> {
  const client = await connected(url)
  try {
    await dropLeftovers(client)
    // A killed restore of a project has left its database under this name.
    await client.run(`drop database if exists "${name}" with (force)`)
    await client.run(`create database "${name}"`)
  } catch (cause) {
    await client.end()
    const reason = (cause as Error).message
    throw new CannotStart(`${purpose} needs a temporary database, which cannot be created: ${reason}`, { cause })
  }
  return {
    url: Object.assign(new URL(url), { pathname: `/${name}` }).href,
    async [Symbol.asyncDispose]() {
      await client.run(`drop database if exists "${name}" with (force)`)
      await client.end()
    },
  }
}

/** Databases of killed processes. */
async function dropLeftovers(client: Connection): Promise<void> {
  const named = await client.rows<{ name: string }>(
    `select datname as name from pg_database where datname ~ '^mortise_(check|proof)_'`,
  )
  for (const { name } of named) {
    const tag = TAG_PATTERN.exec(name)?.[0]
    if (tag !== undefined && hasProcessEnded(tag)) await client.run(`drop database if exists "${name}" with (force)`)
  }
}
