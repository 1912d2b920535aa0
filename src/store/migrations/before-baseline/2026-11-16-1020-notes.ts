import { sql, type Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  /** Notes of an issue or of a commit; the notes of a discussion share its id. */
  await table('notes')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('commit_sha', 'text')
    .addColumn('discussion_id', 'text', (c) => c.notNull())
    .addColumn('type', 'text')
    .addColumn('author_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('body', 'text', (c) => c.notNull())
    .addColumn('system', boolean, (c) => c.notNull().defaultTo(no))
    /** The kind of a system note. */
    .addColumn('action', 'text')
    .addColumn('internal', boolean, (c) => c.notNull().defaultTo(no))
    /** The position on a diff, as JSON. */
    .addColumn('position', 'text')
    .addColumn('line_code', 'text')
    .addColumn('resolved_at', timestamp)
    .addColumn('resolved_by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await index('notes_issue_created_at', 'notes', ['issue_id', 'created_at', 'id'])
  await index('notes_issue_updated_at', 'notes', ['issue_id', 'updated_at', 'id'])
  await index('notes_commit', 'notes', ['project_id', 'commit_sha', 'id'])
  await index('notes_discussion', 'notes', ['discussion_id', 'id'])
  await index('notes_author', 'notes', ['author_id', 'id'])
  await index('notes_resolved_by', 'notes', ['resolved_by_id'])

  await table('award_emoji')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('note_id', ref, (c) => c.references('notes.id').onDelete('cascade'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  for (const target of ['issue_id', 'note_id']) {
    await db.schema
      .createIndex(`award_emoji_${target}_user_id_name_unique`)
      .unique()
      .on('award_emoji')
      .columns([target, 'user_id', 'name'])
      .execute()
  }
  await index('award_emoji_user', 'award_emoji', ['user_id', 'name'])
  await countChanges(db, 'award_emoji', ['name'])

  await keepCount(db, {
    name: 'issue_notes',
    of: 'notes',
    column: 'user_notes_count',
    when: (row) => `not ${row}.system`,
  })
  for (const [column, emoji] of [
    ['upvotes', 'thumbsup'],
    ['downvotes', 'thumbsdown'],
  ] as const) {
    await keepCount(db, {
      name: `issue_${column}`,
      of: 'award_emoji',
      column,
      when: (row) => `${row}.name = '${emoji}'`,
    })
  }
}

interface Count {
  name: string
  of: string
  /** The column of the issue. */
  column: string
  when: (row: string) => string
}

async function keepCount(db: Kysely<never>, { name, of, column, when }: Count): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const wanted = (row: string) => `${row}.issue_id is not null and ${when(row)}`
  const add = (row: string, by: string) => `update issues set ${column} = ${column} ${by} where id = ${row}.issue_id;`
  if (isSqlite(db)) {
    await run(`create trigger ${name}_i after insert on ${of} when ${wanted('new')} begin ${add('new', '+ 1')} end`)
    await run(`create trigger ${name}_d after delete on ${of} when ${wanted('old')} begin ${add('old', '- 1')} end`)
    return
  }
  await run(`create function ${name}() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      if ${wanted('new')} then ${add('new', '+ 1')} end if;
    elsif ${wanted('old')} then ${add('old', '- 1')} end if;
    return null;
  end $$`)
  await run(`create trigger ${name} after insert or delete on ${of} for each row execute function ${name}()`)
}
