import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'
import { triggerAfter } from '../helpers/triggers.ts'

/** What groups have besides members. */
export async function createGroups(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- A group whose members get access to another group.
    create table group_shares (
      id identity,
      group_id bigint not null references namespaces on delete cascade,
      shared_with_group_id bigint not null references namespaces on delete cascade,
      group_access integer not null,
      expires_at date,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('group_shares', 'group_id', 'shared_with_group_id')};
    create index group_shares_with on group_shares (shared_with_group_id);
    create index group_shares_expiry on group_shares (expires_at);
  `
  await countChanges(db, 'group_shares', ['group_access'])

  await define`
    create table ldap_group_links (
      id identity,
      group_id bigint not null references namespaces on delete cascade,
      provider text not null,
      cn text not null,
      group_access integer not null,
      -- A link names a directory group or has a filter; the other one is empty.
      filter text not null default '',
      created_at timestamptz not null
    );
    ${unique('ldap_group_links', 'group_id', 'provider', 'cn')} where filter = '';
    ${unique('ldap_group_links', 'group_id', 'provider', 'filter')} where filter <> '';

    -- Bot accounts of group and project access tokens. Both ids are null once the group or project is deleted.
    create table resource_bots (
      user_id bigint primary key references users on delete cascade,
      group_id bigint references namespaces on delete set null,
      project_id bigint references projects on delete set null
    );
    create index resource_bots_group_id on resource_bots (group_id);
    create index resource_bots_project_id on resource_bots (project_id);
  `
  const isBot = isSqlite(db) ? '1' : 'true'
  const mark = `update users set bot = ${isBot} where id = new.user_id;`
  await triggerAfter(db, 'insert on resource_bots', { name: 'users_bot', body: mark })

  await define`
    -- The warnings already sent before group and project access tokens expire, in days before expiry.
    create table resource_token_warnings (
      token_id bigint not null references access_tokens on delete cascade,
      days integer not null,
      constraint resource_token_warnings_pk primary key (token_id, days)
    );

    -- Of a user, a group or a project: exactly one of them is set.
    create table custom_attributes (
      id identity,
      user_id bigint references users on delete cascade,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      key text not null,
      value text not null
    );
    ${unique('custom_attributes', 'user_id', 'key')};
    ${unique('custom_attributes', 'group_id', 'key')};
    ${unique('custom_attributes', 'project_id', 'key')};
    create index custom_attributes_key_value on custom_attributes (key, value);
  `
  await countChanges(db, 'custom_attributes', ['value'])
}
