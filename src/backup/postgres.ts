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
  return {
    engine: 'postgres',
    async snapshot() {
      await last?.end()
      last = await beginSnapshot(url)
      return last
    },
    rows: (sql) => live.rows(sql),
    async takeLease(destination) {
      // The server notices within 30 seconds that the machine of the connection is gone.
      await live.run('set tcp_keepalives_idle = 15; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3')
      const [row] = await live.rows<{ taken: boolean }>('select pg_try_advisory_lock($1::bigint) as taken', [
        Buffer.from(hash('sha256', `backup ${destination}`), 'hex').readBigInt64BE().toString(),
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

async function beginSnapshot(url: string): Promise<PostgresSnapshot> {
  const client = await connected(url)
  // Before the snapshot is taken: everything confirmed until now is part of it. The first query takes the snapshot.
  const time = new Date()
  await client.run(`begin isolation level repeatable read read only; set local timezone to 'UTC'; select 1`)
  return new PostgresSnapshot(time, client)
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

class PostgresSnapshot implements Snapshot {
  readonly time: Date
  /** Rows are not compared with an earlier snapshot: every moment is complete. */
  readonly isUnchanged = false
  readonly bytes = 0
  readonly changedBytes = Infinity
  readonly #client: Connection
  #counts: Record<string, number> | null = null

  constructor(time: Date, client: Connection) {
    this.time = time
    this.#client = client
  }

  rows<T>(sql: string): Promise<T[]> {
    return this.#client.rows(sql)
  }

  async countRows(): Promise<Record<string, number>> {
    this.#counts ??= Object.fromEntries(
      await Promise.all((await this.#tables()).map(async (table) => [table, await this.#count(table)] as const)),
    )
    return this.#counts
  }

  async #count(table: string): Promise<number> {
    return (await this.rows<{ n: number }>(`select count(*)::int as n from "${table}"`))[0]!.n
  }

  async #tables(): Promise<string[]> {
    return (await this.rows<{ name: string }>(TABLES)).map(({ name }) => name)
  }

  async storeWhole(archive: Archive): Promise<RowsPart> {
    const tables: RowsPart['tables'] = {}
    const counts: Record<string, number> = {}
    for (const table of await this.#tables()) {
      const { objects, rows } = await this.#storeTable(archive, table)
      tables[table] = objects
      counts[table] = rows
    }
    this.#counts = counts
    const sequences = await this.rows<{ name: string; value: string; is_called: boolean }>(SEQUENCES)
    return {
      tables,
      sequences: Object.fromEntries(sequences.map(({ name, value, is_called }) => [name, { value, is_called }])),
    }
  }

  async #storeTable(archive: Archive, table: string): Promise<{ objects: string[]; rows: number }> {
    const columns = (await this.rows<{ name: string }>(columnsOf(table))).map(({ name }) => name)
    const keys = (await this.rows<{ name: string }>(keysOf(table))).map(({ name }) => name)
    const order = keys.length > 0 ? ` order by ${quoted(keys)}` : ''
    const id = keys.length === 1 && keys[0] === 'id' ? 'id' : 'null'
    await this.#client.run(
      `declare rows cursor for select ${id} as id, row_to_json(t)::text as line from (select ${quoted(columns)} from "${table}"${order}) t`,
    )
    const objects: string[] = []
    let lines: string[] = []
    let bytes = 0
    let rows = 0
    let range = 0
    const store = async () => {
      if (lines.length > 0) objects.push((await archive.put(await compress(Buffer.from(lines.join('\n'))))).digest)
      lines = []
      bytes = 0
    }
    for (;;) {
      const some = await this.rows<{ id: number | null; line: string }>(`fetch ${ROWS_A_FETCH} from rows`)
      for (const { id, line } of some) {
        const own = Math.floor((id ?? rows) / IDS_AN_OBJECT)
        if (own !== range || bytes > OBJECT_BYTES) await store()
        range = own
        lines.push(line)
        bytes += line.length
        rows++
      }
      if (some.length < ROWS_A_FETCH) break
    }
    await store()
    await this.#client.run('close rows')
    return { objects, rows }
  }

  storeChanges(): Promise<never> {
    throw new Error('every moment of PostgreSQL is complete')
  }

  saved(): void {}

  async end(): Promise<void> {
    await this.#client.end()
  }
}

const quoted = (names: readonly string[]) => names.map((name) => `"${name}"`).join(', ')

const TABLES = `select c.relname as name from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by 1`

const SEQUENCES = `select sequencename as name, coalesce(last_value, start_value)::text as value, last_value is not null as is_called from pg_sequences where schemaname = current_schema() order by 1`

/** Without those that the database computes. */
const columnsOf = (table: string) =>
  `select attname as name from pg_attribute where attrelid = '"${table}"'::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`

const keysOf = (table: string) =>
  `select a.attname as name from pg_index i cross join unnest(i.indkey) with ordinality k(attnum, n) join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum where i.indrelid = '"${table}"'::regclass and i.indisprimary order by k.n`

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
    `select datname as name from pg_database where datname like 'mortise\\_check\\_%'`,
  )
  for (const { name } of named) {
    const tag = TAG_PATTERN.exec(name)?.[0]
    if (tag !== undefined && hasProcessEnded(tag)) await client.run(`drop database if exists "${name}" with (force)`)
  }
}
