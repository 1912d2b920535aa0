/** Deleted projects and groups stay in the bin for a while: who deleted them, when, and what they were called. */
import { sql, type Kysely } from 'kysely'
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

const COLUMNS = [
  'deleted_with_group_id',
  'deleted_path',
  'deleted_name',
  'deleted_by_id',
  'deletion_due_at',
  'marked_for_deletion_at',
]

/** An earlier version could neither show nor restore what is in the bin, and knows only the changed names. */
export async function down(db: Kysely<never>): Promise<void> {
  for (const table of ['projects', 'namespaces']) {
    const { rows } = await sql<{ n: number }>`
      select count(*) as n from ${sql.table(table)}
      where marked_for_deletion_at is not null or deleted_with_group_id is not null`.execute(db)
    if (Number(rows[0]!.n) > 0)
      throw new Error('the bin is not empty: restore its projects and groups, or delete them for good, and try again')
  }
  const define = definer(db)
  await define`
    drop table deleted_shares;
  `
  for (const table of ['projects', 'namespaces']) {
    await define`
      drop index ${table}_marked;
      drop index ${table}_due;
      drop index ${table}_deleted_by;
      drop index ${table}_deleted_with;
    `
    for (const column of COLUMNS)
      await define`
        alter table ${table} drop column ${column};
      `
  }
}
