/** Deleted projects and groups stay in the bin for a while: who deleted them, when, and what they were called. */
import type { Kysely } from 'kysely'
import { definer } from './helpers/define.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  for (const table of ['projects', 'namespaces']) {
    await define`
      alter table ${table} add column marked_for_deletion_at timestamptz;
      alter table ${table} add column deletion_due_at timestamptz;
      alter table ${table} add column deleted_by_id bigint references users on delete set null;
      alter table ${table} add column deleted_name text;
      alter table ${table} add column deleted_path text;
      alter table ${table} add column deleted_with_group_id bigint;
      create index ${table}_marked on ${table} (marked_for_deletion_at, id) where marked_for_deletion_at is not null;
      create index ${table}_due on ${table} (deletion_due_at) where deletion_due_at is not null;
      create index ${table}_deleted_by on ${table} (deleted_by_id) where deleted_by_id is not null;
      create index ${table}_deleted_with on ${table} (deleted_with_group_id) where deleted_with_group_id is not null;
    `
  }
  await define`
    -- Shares with a deleted group. Restoring the group creates them again.
    create table deleted_shares (
      id identity,
      bin_id bigint not null references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      shared_with_group_id bigint not null references namespaces on delete cascade,
      group_access integer not null,
      expires_at date,
      created_at timestamptz not null
    );
    create index deleted_shares_bin on deleted_shares (bin_id);
    create index deleted_shares_project on deleted_shares (project_id);
    create index deleted_shares_group on deleted_shares (group_id);
    create index deleted_shares_with on deleted_shares (shared_with_group_id);
  `
}
