import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** The outbox, background jobs, and the versions that cached totals depend on. */
export async function createStore(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  // On PostgreSQL every change inserts its own row, so that writers never wait for each other.
  await define`
    create table changes (
      subject text ${isSqlite(db) ? 'primary key' : 'not null'},
      version bigint not null
    );
  `
  if (!isSqlite(db)) await define`create index changes_subject on changes (subject);`

  await define`
    -- Events are written in the transaction of the change, and dispatched to subscribers after the commit.
    create table events (
      id identity,
      name text not null,
      payload text not null,
      dispatched_at timestamptz,
      project_id bigint,
      group_id bigint,
      -- The commit order, as far as it can be known; assigned when the event is dispatched.
      position bigint,
      described boolean not null default false,
      -- The first event of the chain: a delivery of that event led to the request that caused this one. Null: no chain.
      root_id bigint,
      created_at timestamptz not null
    );
    create index events_new on events (id) where dispatched_at is null;
    ${unique('events', 'position')} where position is not null;
    create index events_project on events (project_id, position) where project_id is not null;
    create index events_group on events (group_id, position) where group_id is not null;
    create index events_root on events (root_id) where root_id is not null;

    -- One row: the last assigned position.
    create table event_positions (
      last bigint not null
    );
    insert into event_positions (last) values (0);

    -- The payloads for hooks and integrations, as of the moment of the event.
    create table event_messages (
      id identity,
      event_id bigint not null references events on delete cascade,
      kind text not null,
      switch text,
      project_id bigint,
      group_id bigint,
      to_projects boolean not null,
      to_groups boolean not null,
      to_system boolean not null,
      ref text,
      body text not null,
      complete boolean not null
    );
    create index event_messages_event on event_messages (event_id);

    create table jobs (
      id identity,
      name text not null,
      key text,
      payload text not null,
      state text not null,
      attempts integer not null,
      run_at timestamptz not null,
      lease_until timestamptz,
      last_error text,
      -- The event that a subscriber's job handles.
      event_id bigint,
      event_at timestamptz,
      -- The tag of the process that has the lease.
      lease_holder text,
      created_at timestamptz not null
    );
    create index jobs_due on jobs (state, run_at, id);
    ${unique('jobs', 'key')};

    -- One row: attempts since the instance was created.
    create table job_totals (
      processed bigint not null,
      failed bigint not null
    );
    insert into job_totals (processed, failed) values (0, 0);

    -- The processes that use the store. The row is deleted when its process has ended: on another machine, when its
    -- beats stay the same for several checks.
    create table processes (
      tag text primary key,
      beats integer not null
    );
  `
}
