/** Every change of a ref, so that users can undo it. */
import type { Kysely } from 'kysely'
import { definer } from './helpers/define.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table ref_changes (
      id identity,
      project_id bigint not null references projects on delete cascade,
      -- A ref of the wiki of the project.
      wiki boolean not null default false,
      ref text not null,
      -- Null before the creation of the ref, and after its deletion.
      before text,
      after text,
      user_id bigint references users on delete set null,
      created_at timestamptz not null
    );
    create index ref_changes_project on ref_changes (project_id, wiki, id);
    create index ref_changes_ref on ref_changes (project_id, wiki, ref, id);
    create index ref_changes_user on ref_changes (user_id);
    -- For the job that deletes old rows.
    create index ref_changes_created on ref_changes (created_at);
  `
}

export const lost = 'the list of changes of branches and tags, so that no earlier change can be undone'

export async function down(db: Kysely<never>): Promise<void> {
  await definer(db)`
    drop table ref_changes;
  `
}
