/** The releases of a deleted tag come back when the deletion of the tag is undone. */
import type { Kysely } from 'kysely'
import { definer } from './helpers/define.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table deleted_releases (
      id identity,
      project_id bigint not null references projects on delete cascade,
      -- The deletion of the tag: a release is kept for as long as the tag can come back.
      ref_change_id bigint not null references ref_changes on delete cascade,
      -- The id that the release had, and will have again.
      release_id bigint not null,
      -- Its rows, as JSON.
      parts text not null
    );
    create index deleted_releases_project on deleted_releases (project_id);
    create index deleted_releases_change on deleted_releases (ref_change_id);
    -- The earlier change that this one undoes.
    alter table pending_changes add column undoes bigint;
  `
}

export const lost = 'the releases of deleted tags, so that a tag returns without its release'

export async function down(db: Kysely<never>): Promise<void> {
  await definer(db)`
    alter table pending_changes drop column undoes;
    drop table deleted_releases;
  `
}
