import type { Kysely } from 'kysely'
import { countChanges, countFacets } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique, uniqueName } from '../helpers/names.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { raiseVersions } from '../helpers/versions.ts'

/** Users, their namespaces and their credentials. */
export async function createIdentity(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    create table users (
      id identity,
      username text not null,
      name text not null,
      email text not null,
      state text not null,
      admin boolean not null,
      external boolean not null,
      ghost boolean not null,
      bio text,
      location text,
      organization text,
      messenger text not null,
      professional_network text not null,
      microblog text not null,
      website_url text not null,
      avatar_digest text,
      avatar_filename text,
      avatar_type text,
      projects_limit integer not null,
      can_create_group boolean not null,
      shared_runners_minutes_limit integer,
      theme_id integer not null,
      color_scheme_id integer not null,
      two_factor_enabled boolean not null,
      password_digest text,
      password_expires_at timestamptz,
      failed_sign_ins integer not null default 0,
      locked_until timestamptz,
      confirmed_at timestamptz,
      last_sign_in_at timestamptz,
      current_sign_in_at timestamptz,
      last_activity_on date,
      credentials_revoked_at timestamptz,
      -- When a user who must have a second factor was first notified: the start of the grace period.
      second_factor_asked_at timestamptz,
      confirm_by timestamptz,
      accepted_terms text,
      public_email text,
      pronouns text,
      note text,
      job_title text not null default '',
      -- Set by a trigger on "resource_bots".
      bot boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    create unique index ${uniqueName('users', ['username'])} on users (lower(username));
    ${unique('users', 'email')};
    create index users_state on users (state, id);
    create index users_created_at on users (created_at, id);
    create index users_last_activity_on on users (last_activity_on, id);
    create index users_avatar on users (avatar_digest);
    create index users_external on users (external, id, state, version);
    create index users_by_name on users (lower(name) collate "C", id);
    create index users_by_username on users (lower(username) collate "C", id);
    create index users_by_update on users (updated_at, id);
    create index users_second_factor on users (two_factor_enabled, id);
    create index users_admin on users (id) where admin;
    create index users_bot on users (id) where bot;
    create index users_ghost on users (id) where ghost;
    create index users_public_email on users (public_email) where public_email is not null;
  `
  await createSubstringIndex(db, 'users', ['name', 'username', 'email'])
  await countFacets(db, 'users', { state: 'text', external: 'boolean', ghost: 'boolean' })
  await countChanges(db, 'users', ['state', 'external', 'ghost', 'username', 'name', 'email', 'created_at'])
  await countChanges(db, 'users', ['last_activity_on'], 'user_activity')
  await raiseVersions(db, 'users')
  await countChanges(db, 'users', ['admin', 'bot', 'two_factor_enabled', 'public_email'], 'user_accounts')

  await define`
    -- The account of a user in a directory.
    create table identities (
      id identity,
      user_id bigint not null references users on delete cascade,
      provider text not null,
      extern_uid text not null
    );
    ${unique('identities', 'provider', 'extern_uid')};
    ${unique('identities', 'user_id', 'provider')};
  `
  await countChanges(db, 'identities', ['provider', 'extern_uid', 'user_id'])

  await define`
    create table user_statuses (
      user_id bigint primary key references users on delete cascade,
      emoji text not null,
      message text not null,
      availability text not null,
      clear_at timestamptz
    );

    create table user_follows (
      follower_id bigint not null references users on delete cascade,
      followee_id bigint not null references users on delete cascade,
      created_at timestamptz not null,
      constraint user_follows_pk primary key (follower_id, followee_id)
    );
    create index user_follows_followee on user_follows (followee_id, follower_id);

    -- The IP addresses of users, while the number of addresses per user is limited.
    create table user_addresses (
      user_id bigint not null references users on delete cascade,
      address text not null,
      since timestamptz not null,
      seen_at timestamptz not null,
      constraint user_addresses_pk primary key (user_id, address)
    );
    create index user_addresses_seen_at on user_addresses (seen_at);

    -- Groups and the personal namespaces of users.
    create table namespaces (
      id identity,
      kind text not null,
      name text not null,
      path text not null,
      full_path text not null,
      parent_id bigint references namespaces,
      owner_id bigint references users on delete cascade,
      full_name text not null default '',
      description text not null default '',
      visibility text not null default 'public',
      deleting boolean not null default false,
      lfs_enabled boolean not null default true,
      request_access_enabled boolean not null default false,
      share_with_group_lock boolean not null default false,
      membership_lock boolean not null default false,
      avatar_digest text,
      avatar_filename text,
      avatar_type text,
      shared_runners_minutes_limit integer,
      ldap_synced_at text,
      project_creation_level text not null default 'maintainer',
      subgroup_creation_level text not null default 'owner',
      require_two_factor_authentication boolean not null default false,
      two_factor_grace_period integer not null default 48,
      emails_disabled boolean not null default false,
      auto_devops_enabled boolean,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    create unique index ${uniqueName('namespaces', ['full_path'])} on namespaces (lower(full_path));
    create index namespaces_owner on namespaces (owner_id);
    create index namespaces_parent on namespaces (parent_id);
    create index namespaces_avatar on namespaces (avatar_digest);
    create index namespaces_by_name on namespaces (kind, lower(name) collate "C", id) where not deleting;
    create index namespaces_by_path on namespaces (kind, lower(path) collate "C", id) where not deleting;
  `
  await createSubstringIndex(db, 'namespaces', ['name', 'path'])
  await countFacets(db, 'namespaces', { kind: 'text', visibility: 'text', deleting: 'boolean' })
  await countChanges(db, 'namespaces', ['name', 'path', 'owner_id', 'parent_id', 'visibility', 'deleting'])
  await raiseVersions(db, 'namespaces')

  await define`
    -- Every namespace with itself and all its ancestors: a membership in any of them counts for it.
    create table namespace_ancestors (
      namespace_id bigint not null references namespaces on delete cascade,
      ancestor_id bigint not null references namespaces on delete cascade,
      depth integer not null,
      constraint namespace_ancestors_unique primary key (namespace_id, ancestor_id)
    );
    create index namespace_ancestors_down on namespace_ancestors (ancestor_id, namespace_id);

    -- More addresses of users. An address without "confirmed_at" is a claim, and several users may have it.
    create table emails (
      id identity,
      user_id bigint not null references users on delete cascade,
      email text not null,
      confirmed_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index emails_user on emails (user_id, id);
    ${unique('emails', 'email')} where confirmed_at is not null;
    ${unique('emails', 'user_id', 'email')};
    create index emails_email on emails (email);

    -- Links mailed to a user: single use, found by digest.
    create table mailed_links (
      id identity,
      user_id bigint not null references users on delete cascade,
      purpose text not null,
      email text not null,
      digest text not null,
      expires_at timestamptz not null,
      created_at timestamptz not null
    );
    ${unique('mailed_links', 'digest')};
    create index mailed_links_user on mailed_links (user_id, purpose);

    create table sessions (
      id identity,
      user_id bigint not null references users on delete cascade,
      digest text not null,
      expires_at timestamptz not null,
      ip_address text,
      user_agent text,
      last_used_at timestamptz,
      created_at timestamptz not null
    );
    ${unique('sessions', 'digest')};
    create index sessions_user on sessions (user_id);

    -- Failed attempts by address or login within a window, shared by all processes.
    create table throttles (
      key text primary key,
      count integer not null,
      until timestamptz not null
    );

    -- Authenticator apps. A row has no effect until the user has entered a first code ("users.two_factor_enabled").
    create table second_factors (
      id identity,
      user_id bigint not null references users on delete cascade,
      secret_sealed text not null,
      last_step bigint not null,
      created_at timestamptz not null,
      constraint ${uniqueName('second_factors', ['user_id'])} unique (user_id)
    );

    create table recovery_codes (
      id identity,
      user_id bigint not null references users on delete cascade,
      secret_digest text not null,
      created_at timestamptz not null,
      constraint ${uniqueName('recovery_codes', ['user_id', 'secret_digest'])} unique (user_id, secret_digest)
    );

    create table passkeys (
      id identity,
      user_id bigint not null references users on delete cascade,
      name text not null,
      credential_id text not null,
      public_key text not null,
      counter bigint not null,
      transports text not null,
      last_used_at timestamptz,
      created_at timestamptz not null,
      constraint ${uniqueName('passkeys', ['credential_id'])} unique (credential_id)
    );
    create index passkeys_user on passkeys (user_id, id);

    -- SSH keys of users, and deploy keys: a fingerprint is unique in the instance.
    create table keys (
      id identity,
      user_id bigint references users on delete cascade,
      kind text not null,
      title text not null,
      key text not null,
      fingerprint text not null,
      fingerprint_sha256 text not null,
      usage_type text not null,
      expires_at timestamptz,
      last_used_at timestamptz,
      -- Whether any project may enable a deploy key, and its creator: pushes with the key count as the creator's.
      public boolean not null default false,
      creator_id bigint references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('keys', 'fingerprint')};
    create index keys_fingerprint_sha256 on keys (fingerprint_sha256);
    create index keys_user on keys (user_id, id);
    create index keys_creator on keys (creator_id);
    create index keys_kind on keys (kind, id);

    create table gpg_keys (
      id identity,
      user_id bigint not null references users on delete cascade,
      key text not null,
      fingerprint text not null,
      primary_keyid text not null,
      emails text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('gpg_keys', 'fingerprint')};
    create index gpg_keys_primary_keyid on gpg_keys (primary_keyid);
    create index gpg_keys_user on gpg_keys (user_id, id);

    create table gpg_subkeys (
      id identity,
      gpg_key_id bigint not null references gpg_keys on delete cascade,
      fingerprint text not null,
      keyid text not null
    );
    create index gpg_subkeys_keyid on gpg_subkeys (keyid);
    create index gpg_subkeys_key on gpg_subkeys (gpg_key_id);

    -- Private, personal and impersonation tokens: one lookup by digest serves all three.
    create table access_tokens (
      id identity,
      user_id bigint not null references users on delete cascade,
      kind text not null,
      name text not null,
      description text,
      digest text not null,
      sealed text,
      scopes text not null,
      expires_at date,
      revoked boolean not null,
      -- The first token of a chain of rotations; reuse of a rotated token revokes the chain.
      family_id bigint,
      rotated boolean not null,
      last_used_at timestamptz,
      last_used_ips text not null default '',
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('access_tokens', 'digest')};
    create index access_tokens_user on access_tokens (user_id, kind, id);
    create index access_tokens_kind on access_tokens (kind, id);
    create index access_tokens_family on access_tokens (family_id);
  `
  await countChanges(db, 'access_tokens', ['revoked', 'expires_at', 'name', 'last_used_at'])

  await define`
    -- Feed tokens, for programs that know no other credential: one per user, created by the user.
    create table feed_tokens (
      id identity,
      user_id bigint not null unique references users on delete cascade,
      token_digest text not null unique,
      token_sealed text not null,
      created_at timestamptz not null
    );

    create table oauth_applications (
      id identity,
      uid text not null,
      secret_digest text not null,
      name text not null,
      redirect_uri text not null,
      scopes text not null,
      confidential boolean not null,
      trusted boolean not null,
      -- The user who registered the application; null: it belongs to the instance.
      owner_id bigint references users on delete cascade,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('oauth_applications', 'uid')};
    create index oauth_applications_owner on oauth_applications (owner_id, id);

    -- Authorization codes.
    create table oauth_grants (
      id identity,
      application_id bigint not null references oauth_applications on delete cascade,
      user_id bigint not null references users on delete cascade,
      digest text not null,
      redirect_uri text not null,
      scopes text not null,
      code_challenge text,
      code_challenge_method text,
      nonce text,
      used_at timestamptz,
      expires_at timestamptz not null,
      created_at timestamptz not null
    );
    ${unique('oauth_grants', 'digest')};

    create table oauth_tokens (
      id identity,
      application_id bigint references oauth_applications on delete cascade,
      user_id bigint references users on delete cascade,
      grant_id bigint references oauth_grants on delete set null,
      digest text not null,
      refresh_digest text,
      scopes text not null,
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz,
      created_at timestamptz not null
    );
    ${unique('oauth_tokens', 'digest')};
    ${unique('oauth_tokens', 'refresh_digest')};
    create index oauth_tokens_user on oauth_tokens (user_id, application_id);
    create index oauth_tokens_grant on oauth_tokens (grant_id);
  `
}
