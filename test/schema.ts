/** Describes the schema of a database, to compare it with another one. */
import { sql } from 'kysely'
import type { Db } from '../src/store/database.ts'
import { isSqlite } from '../src/store/dialect.ts'

const QUERIES = [
  sql`select 'column' as kind, table_name || '.' || column_name as name, (column_default, is_nullable, data_type,
    collation_name, is_identity, identity_generation, generation_expression)::text as definition
    from information_schema.columns where table_schema = 'public'`,
  sql`select 'constraint' as kind, conrelid::regclass || '.' || conname as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace = 'public'::regnamespace`,
  sql`select 'index' as kind, indexname as name, indexdef as definition from pg_indexes where schemaname = 'public'`,
  sql`select 'trigger' as kind, tgrelid::regclass || '.' || tgname as name, pg_get_triggerdef(oid) as definition
    from pg_trigger where not tgisinternal`,
  sql`select 'function' as kind, p.oid::regprocedure::text as name, pg_get_functiondef(p.oid) as definition
    from pg_proc p left join pg_depend d on d.objid = p.oid and d.deptype = 'e'
    where pronamespace = 'public'::regnamespace and prokind <> 'a' and d.objid is null`,
  sql`select 'view' as kind, viewname as name, definition from pg_views where schemaname = 'public'`,
  sql`select 'extension' as kind, extname as name, extversion as definition from pg_extension`,
  sql`select 'statistics' as kind, stxname as name, pg_get_statisticsobjdef(oid) as definition from pg_statistic_ext`,
  sql`select 'storage' as kind, relname as name, reloptions::text as definition from pg_class
    where relnamespace = 'public'::regnamespace and reloptions is not null`,
  sql`select 'sequence' as kind, sequencename as name, (start_value, increment_by)::text as definition
    from pg_sequences where schemaname = 'public'`,
  sql`select 'subject' as kind, subject as name, '' as definition from changes where position('/' in subject) = 0
    group by subject`,
]

const SQLITE_QUERIES = [
  sql`select type as kind, name, sql as definition from sqlite_master`,
  sql`select 'subject' as kind, subject as name, '' as definition from changes where instr(subject, '/') = 0`,
]

/** One line per object; for SQLite, whose texts are as they were written, one line per column and constraint. */
export async function describeSchema(db: Db): Promise<string[]> {
  const lines: string[] = []
  for (const query of isSqlite(db) ? SQLITE_QUERIES : QUERIES) {
    for (const { kind, name, definition } of (await query.execute(db)).rows as Record<string, string>[]) {
      const text = squeeze(definition ?? '')
      const table = isSqlite(db) ? /^create table \w+ ?\((.*)\)$/i.exec(text)?.[1] : undefined
      lines.push(...(table ? partsOf(table) : [text]).map((part) => `${kind} ${name}: ${part}`))
    }
  }
  return lines.toSorted()
}

const squeeze = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/\( /g, '(')
    .replace(/ \)/g, ')')
    .replaceAll('"', '')
    // A column in parentheses is a column.
    .replace(/(?<=[(,] ?)\((\w+)\)/g, '$1')
    .trim()

/** Columns and constraints, each with its parts in one order. */
function partsOf(table: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let at = 0; at <= table.length; at++) {
    if (table[at] === '(') depth++
    if (table[at] === ')') depth--
    if (depth === 0 && (table[at] === ',' || at === table.length)) {
      parts.push(table.slice(start, at).trim())
      start = at + 1
    }
  }
  return parts.map((part) => (/^\w+ .* not null\b/.test(part) ? `${part.replace(' not null', '')} not null` : part))
}
