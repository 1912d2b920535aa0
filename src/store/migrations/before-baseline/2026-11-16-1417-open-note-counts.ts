import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

/** Everybody sees the number of notes of an issue, so internal notes do not count. */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const wanted = (row: string) => `${row}.issue_id is not null and not ${row}.system and not ${row}.internal`
  const add = (row: string, by: string) =>
    `update issues set user_notes_count = user_notes_count ${by} where id = ${row}.issue_id;`
  if (isSqlite(db)) {
    for (const name of ['issue_notes_i', 'issue_notes_d']) await run(`drop trigger ${name}`)
    await run(`create trigger issue_notes_i after insert on notes when ${wanted('new')} begin ${add('new', '+ 1')} end`)
    await run(`create trigger issue_notes_d after delete on notes when ${wanted('old')} begin ${add('old', '- 1')} end`)
  } else {
    await run(`create or replace function issue_notes() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then
        if ${wanted('new')} then ${add('new', '+ 1')} end if;
      elsif ${wanted('old')} then ${add('old', '- 1')} end if;
      return null;
    end $$`)
  }
  await run(`update issues set user_notes_count = user_notes_count - hidden.total
    from (select issue_id, count(*) as total from notes where internal and not system group by issue_id) as hidden
    where hidden.issue_id = issues.id`)
}
