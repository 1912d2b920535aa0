import type { Kysely } from 'kysely'
import { countChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** Who may do what: memberships, and the access levels that follow from them. */
export async function createAccess(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- A row of these tables belongs to a group or to a project, never to both.
    create table members (
      id identity,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      user_id bigint not null references users on delete cascade,
      access_level integer not null,
      expires_at date,
      -- Granted by a directory link, and removed when the link no longer grants it.
      from_directory boolean not null default false,
      -- The level that a person granted, while a directory link grants a higher one.
      hand_level integer,
      created_by_id bigint references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint members_source check ((group_id is null) <> (project_id is null))
    );
    ${unique('members', 'group_id', 'user_id')};
    ${unique('members', 'project_id', 'user_id')};
    create index members_user on members (user_id, access_level);
    create index members_expiry on members (expires_at);
    create index members_created_by on members (created_by_id);
  `
  await countChanges(db, 'members', ['access_level'])

  await define`
    create table access_requests (
      id identity,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      user_id bigint not null references users on delete cascade,
      requested_at timestamptz not null,
      constraint access_requests_source check ((group_id is null) <> (project_id is null))
    );
    ${unique('access_requests', 'group_id', 'user_id')};
    ${unique('access_requests', 'project_id', 'user_id')};
    create index access_requests_user on access_requests (user_id);

    create table invitations (
      id identity,
      group_id bigint references namespaces on delete cascade,
      project_id bigint references projects on delete cascade,
      email text not null,
      access_level integer not null,
      expires_at date,
      token_digest text not null,
      token_sealed text not null,
      created_by_id bigint references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      constraint invitations_source check ((group_id is null) <> (project_id is null))
    );
    ${unique('invitations', 'group_id', 'email')};
    ${unique('invitations', 'project_id', 'email')};
    ${unique('invitations', 'token_digest')};
    create index invitations_email on invitations (email);
    create index invitations_created_by on invitations (created_by_id);

    -- The result of memberships, inheritance, shares and ownership: reads use this table only.
    create table project_authorizations (
      user_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      access_level integer not null,
      constraint project_authorizations_unique primary key (user_id, project_id)
    );
    create index project_authorizations_project on project_authorizations (project_id, user_id, access_level);
  `
  await countChanges(db, 'project_authorizations', ['access_level'])
}
