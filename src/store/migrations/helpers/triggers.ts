/** Triggers for each row. On PostgreSQL each has a function of the same name. */
import { sql, type Kysely } from 'kysely'
import { isSqlite } from './columns.ts'

/** `event` is such as `after insert on issues`; a condition may follow. */
export async function sqliteTrigger(db: Kysely<never>, name: string, event: string, body: string): Promise<void> {
  await sql.raw(`create trigger ${name} ${event} begin ${body} end`).execute(db)
}

/** The body returns the row of a trigger before the event, and null after it. */
export async function postgresTrigger(
  db: Kysely<never>,
  name: string,
  event: string,
  body: string,
  condition?: string,
): Promise<void> {
  const when = condition === undefined ? '' : `when (${condition})`
  await sql.raw(`create function ${name}() returns trigger language plpgsql as $$ begin ${body} end $$`).execute(db)
  await sql.raw(`create trigger ${name} ${event} for each row ${when} execute function ${name}()`).execute(db)
}

/** A trigger after an event whose condition and body both databases understand. */
export async function triggerAfter(
  db: Kysely<never>,
  event: string,
  { name, when, body }: { name: string; when?: string; body: string },
): Promise<void> {
  if (!isSqlite(db)) return postgresTrigger(db, name, `after ${event}`, `${body} return null;`, when)
  await sqliteTrigger(db, name, `after ${event}${when === undefined ? '' : ` when ${when}`}`, body)
}
