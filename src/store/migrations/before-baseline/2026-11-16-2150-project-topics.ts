import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

/**
 * Topics are part of a project's state: changing them increments its version. The index for lists of projects gets all
 * columns that these lists test.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  await run('drop index projects_by_id')
  await run('create index projects_by_id on projects (archived, id, visibility, deleting) where not deleting')
  if (isSqlite(db)) {
    for (const [event, row] of [
      ['insert', 'new'],
      ['delete', 'old'],
      ['update', 'new'],
    ])
      await run(`create trigger project_topics_version_${event} after ${event} on project_topics
        begin update projects set version = version + 1 where id = ${row}.project_id; end`)
    return
  }
  await run(`create function raise_version_of_project() returns trigger language plpgsql as $$ begin
    update projects set version = version where id = coalesce(new.project_id, old.project_id);
    return null;
  end $$`)
  await run(`create trigger project_topics_version after insert or delete or update on project_topics
    for each row execute function raise_version_of_project()`)
}
