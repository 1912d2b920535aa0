/** Members whose removal can be undone for a while, and the items that they were unassigned from. */
import type { Kysely } from 'kysely'
import { definer } from './helpers/define.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table removed_members (
      id identity,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      user_id bigint not null references users on delete cascade,
      access_level integer not null,
      expires_at date,
      from_directory boolean not null default false,
      hand_level integer,
      created_by_id bigint references users on delete set null,
      -- Of the membership.
      created_at timestamptz not null,
      removed_by_id bigint not null references users on delete cascade,
      removed_at timestamptz not null,
      restored_at timestamptz
    );
    create index removed_members_group on removed_members (group_id, user_id);
    create index removed_members_project on removed_members (project_id, user_id);
    create index removed_members_user on removed_members (user_id);
    create index removed_members_creator on removed_members (created_by_id);
    create index removed_members_remover on removed_members (removed_by_id);
    create index removed_members_removed on removed_members (removed_at);

    create table removed_assignments (
      removal_id bigint not null references removed_members on delete cascade,
      -- The table of the link, such as issue_assignees.
      links text not null,
      item_id bigint not null,
      constraint removed_assignments_unique primary key (removal_id, links, item_id)
    );
  `
}

export const lost = 'the members removed in the last hour, so that no removal can be undone'

export async function down(db: Kysely<never>): Promise<void> {
  await definer(db)`
    drop table removed_assignments;
    drop table removed_members;
  `
}
