/** Databases for test forges: created, migrated and filled once, then copied for each test. */
import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Pool } from 'pg'
import { hasProcessEnded, PROCESS_TAG, TAG_PATTERN } from '../lib/async/process-tag.ts'
import { randomHex } from '../lib/crypto/secrets.ts'
import { makeTemporaryFolder } from '../lib/files/temporary-folder.ts'

export interface TemporaryDatabase {
  readonly url: string
  drop(): Promise<void>
}

export interface CopiedDatabase extends TemporaryDatabase {
  /** Replaces the database by a new copy of the template, at the same URL; no connection may be open. */
  reset(): Promise<void>
}

export interface Template {
  /** A SQLite database is created in `folder`. */
  copy(folder: string): Promise<CopiedDatabase>
}

/** `fill` gets the URL of an empty database and must leave it closed. */
export async function sqliteTemplate(fill: (url: string) => Promise<void>): Promise<Template> {
  const folder = await makeTemporaryFolder()
  const file = join(folder, 'template.sqlite')
  await fill(`sqlite:${file}`)
  // Kept in memory, so that a process killed by a signal leaves no file behind.
  const template = await readFile(file)
  await rm(folder, { recursive: true })
  return {
    async copy(into) {
      const path = join(into, 'mortise.sqlite')
      const drop = async () => {
        for (const end of ['', '-wal', '-shm']) await rm(path + end, { force: true })
      }
      const reset = async () => {
        await drop()
        await writeFile(path, template)
      }
      await reset()
      return { url: `sqlite:${path}`, drop, reset }
    },
  }
}

/** Connections are reused for all databases; they do not keep the process alive. */
const servers = new Map<string, Promise<Server>>()

interface Server {
  readonly pool: Pool
  /** Copying files is faster than logging rows; before PostgreSQL 15 it was the only way. */
  readonly strategy: string
}

async function openServer(connectionString: string): Promise<Server> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ connectionString, max: 2, allowExitOnIdle: true })
  pool.on('error', () => {})
  const { rows } = await pool.query(`select current_setting('server_version_num')::int >= 150000 as chooses`)
  await sweepDatabases(pool)
  return { pool, strategy: rows[0].chooses ? 'strategy file_copy' : '' }
}

/** The rest is left to the next process. */
const MOST_SWEPT = 20
const LEFTOVER = new RegExp(`^mortise_(${TAG_PATTERN.source})_`)

/** Drops the databases of processes that ended without dropping them. */
async function sweepDatabases(pool: Pool): Promise<void> {
  const { rows } = await pool.query<{ datname: string }>(`select datname from pg_database where datname ~ '^mortise_'`)
  const gone = rows.filter(({ datname }) => hasProcessEnded(LEFTOVER.exec(datname)?.[1] ?? '')).slice(0, MOST_SWEPT)
  // Another process may be sweeping too.
  for (const { datname } of gone) await pool.query(`drop database if exists ${datname} with (force)`).catch(() => {})
}

function serverAt(url: string): Promise<Server> {
  const known = servers.get(url) ?? openServer(url)
  servers.set(url, known)
  known.catch(() => servers.delete(url))
  return known
}

/** A new database on a server: a copy of `template`, or empty. */
export async function postgresDatabase(
  server: string,
  template = 'template1',
): Promise<CopiedDatabase & { name: string }> {
  const { pool, strategy } = await serverAt(server)
  const name = `mortise_${PROCESS_TAG}_${randomHex(6)}`
  const url = Object.assign(new URL(server), { pathname: `/${name}` }).href
  const create = async () => void (await pool.query(`create database ${name} template ${template} ${strategy}`))
  const drop = async () => void (await pool.query(`drop database ${name} with (force)`))
  const reset = async () => {
    await drop()
    await create()
  }
  await create()
  return { name, url, drop, reset }
}

/** A copy that is no longer used is restored and used again: that is quicker than a new one, whose connections are new. */
export async function postgresTemplate(server: string, fill: (url: string) => Promise<void>): Promise<Template> {
  const { name, url } = await postgresDatabase(server)
  await fill(url)
  if (!(await prepareRestoring(url))) return { copy: () => postgresDatabase(server, name) }

  const { lastingPools } = await import('./postgres.ts')
  const isRestored = async (url: string) => {
    const client = await lastingPools.get(url)?.connect()
    try {
      const result = await client?.query<{ restored: boolean }>('select template.restore() as restored')
      return result?.rows[0]?.restored ?? false
    } catch {
      return false
    } finally {
      client?.release()
    }
  }
  const unused: CopiedDatabase[] = []
  const create = async (): Promise<CopiedDatabase> => {
    const database = await postgresDatabase(server, name)
    const end = async () => {
      await lastingPools.get(database.url)?.end()
      lastingPools.delete(database.url)
    }
    lastingPools.set(database.url, null)
    const copied: CopiedDatabase = {
      url: database.url,
      async reset() {
        if (await isRestored(database.url)) return
        await end()
        await database.reset()
        lastingPools.set(database.url, null)
      },
      async drop() {
        if (await isRestored(database.url)) return void unused.push(copied)
        await end()
        await database.drop()
      },
    }
    return copied
  }
  return { copy: async () => unused.pop() ?? create() }
}

/** Pages of a table above which a new copy is quicker, and statements are planned as for a small table. */
const MOST_PAGES = 64

/**
 * Adds `template.restore()` to a database, which deletes and inserts rows until all are as they are now. It returns false
 * if that is not enough: a table, an index, a function or a trigger has changed, or a table was analysed or became large.
 * The rows are part of the function, because tests list all tables.
 */
const RESTORING = `
  create schema template;
  create function template.catalogs() returns text language sql as $$
    select concat_ws(' ',
      (select (count(*), max(xmin::text::bigint)) from pg_class),
      (select (count(*), max(xmin::text::bigint)) from pg_attribute),
      (select (count(*), max(xmin::text::bigint)) from pg_trigger),
      (select (count(*), max(xmin::text::bigint)) from pg_constraint),
      (select (count(*), max(xmin::text::bigint)) from pg_proc where pronamespace = 'public'::regnamespace),
      (select count(*) from pg_statistic))
  $$;
  create function template.filled() returns setof regclass language sql as $$
    select oid from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'r' and pg_relation_size(oid) > 0
  $$;
  do $do$
    declare
      filled regclass;
      names text;
      contents json;
      refills text := '';
    begin
      for filled in select template.filled() loop
        names := (select string_agg(quote_ident(attname), ', ') from pg_attribute
          where attrelid = filled and attnum > 0 and not attisdropped and attgenerated = '');
        execute format('select json_agg(t) from %s t', filled) into contents;
        refills := refills || format(
          'insert into %1$s (%2$s) overriding system value select %2$s from json_populate_recordset(null::%1$s, %3$L);',
          filled, names, contents);
      end loop;
      execute format($text$
        create function template.restore() returns boolean language plpgsql as $restore$
          declare
            filled text;
          begin
            if template.catalogs() <> %L then return false; end if;
            if exists (select from template.filled() t where pg_relation_size(t) > ${MOST_PAGES} * 8192)
              then return false; end if;
            perform set_config('session_replication_role', 'replica', true), set_config('lock_timeout', '1s', true);
            for filled in select template.filled() loop execute 'delete from ' || filled; end loop;
            %s
            perform setval(seqrelid, coalesce(last, seqstart), last is not null)
              from pg_sequence join json_to_recordset(%L) as template (oid oid, last bigint) on oid = seqrelid
              where pg_sequence_last_value(seqrelid) is distinct from last;
            return true;
          end
        $restore$ $text$, template.catalogs(), refills, (select json_agg(json_build_object(
          'oid', seqrelid, 'last', pg_sequence_last_value(seqrelid))) from pg_sequence));
    end
  $do$;
`

/** Returns false if the server does not let us: only a superuser deletes rows in any order. */
async function prepareRestoring(url: string): Promise<boolean> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    const { rows } = await client.query(`select usesuper from pg_user where usename = current_user`)
    if (rows[0]?.usesuper) await client.query(RESTORING)
    return rows[0]?.usesuper ?? false
  } finally {
    await client.end()
  }
}
