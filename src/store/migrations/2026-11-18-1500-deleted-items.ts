/** Deleted issues, merge requests, labels and milestones stay in the bin for a while, with all that belongs to them. */
import { sql, type Kysely } from 'kysely'
import { definer } from './helpers/define.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table deleted_items (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      kind text not null,
      -- The id of the deleted row.
      record_id bigint not null,
      iid bigint,
      title text not null,
      -- "taking", "restoring" or "purging" while its rows move, "kept" in between.
      state text not null,
      deleted_by_id bigint references users on delete set null,
      deleted_at timestamptz not null,
      due_at timestamptz not null
    );
    create unique index deleted_items_kind_record_id_unique on deleted_items (kind, record_id);
    create index deleted_items_project on deleted_items (project_id, id);
    create index deleted_items_group on deleted_items (group_id, id);
    create index deleted_items_iid on deleted_items (project_id, kind, iid, id);
    create index deleted_items_deleted_by on deleted_items (deleted_by_id);
    create index deleted_items_due on deleted_items (due_at);
    create index deleted_items_moving on deleted_items (id) where state <> 'kept';

    -- The rows of deleted items, as JSON, in the order in which they left their tables.
    create table deleted_parts (
      id identity,
      deleted_item_id bigint not null references deleted_items on delete cascade,
      content text not null
    );
    create index deleted_parts_item on deleted_parts (deleted_item_id, id);

    -- The commits of deleted merge requests, which housekeeping keeps.
    create table deleted_commits (
      id identity,
      deleted_item_id bigint not null references deleted_items on delete cascade,
      project_id bigint not null references projects on delete cascade,
      sha text not null
    );
    create unique index deleted_commits_deleted_item_id_sha_unique on deleted_commits (deleted_item_id, sha);
    create index deleted_commits_project on deleted_commits (project_id, id);
  `
}

/** An earlier version could not restore what is in the bin. */
export async function down(db: Kysely<never>): Promise<void> {
  const { rows } = await sql<{ n: number }>`select count(*) as n from deleted_items`.execute(db)
  if (Number(rows[0]!.n) > 0)
    throw new Error(
      'the bin is not empty: restore its issues, merge requests, labels and milestones, or delete them for good, and try again',
    )
  await definer(db)`
    drop table deleted_commits;
    drop table deleted_parts;
    drop table deleted_items;
  `
}
