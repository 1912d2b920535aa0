import type { Kysely } from 'kysely'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** Settings, features, messages to all users, and the audit log of the instance. */
export async function createInstance(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- Only settings that an administrator has set; values are JSON.
    create table settings (
      name text primary key,
      value text not null
    );

    create table features (
      id identity,
      name text not null,
      enabled boolean not null default false,
      percentage_of_time integer not null default 0,
      percentage_of_actors integer not null default 0,
      groups text not null default '',
      actors text not null default ''
    );
    ${unique('features', 'name')};

    create table plan_limits (
      name text primary key,
      value bigint not null
    );

    create table broadcast_messages (
      id identity,
      message text not null,
      starts_at timestamptz not null,
      ends_at timestamptz not null,
      color text not null,
      font text not null,
      target_path text,
      broadcast_type text not null,
      dismissable boolean not null default true,
      target_access_levels text not null default '',
      theme text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );

    -- The records that an event is about may be deleted when it is read: nothing here refers to a row.
    create table audit_events (
      id identity,
      author_id bigint not null,
      author_name text not null,
      kind text not null,
      entity_type text not null,
      entity_id bigint,
      entity_path text,
      ip_address text not null,
      details text not null,
      created_at timestamptz not null
    );
    create index audit_events_entity on audit_events (entity_type, entity_id, id);
    create index audit_events_created_at on audit_events (created_at);

    -- One row with a value that only the key of the stored secrets decrypts: shows whether the configured key is
    -- that one.
    create table instance_key (
      id integer primary key,
      check_value text not null
    );
  `
}
