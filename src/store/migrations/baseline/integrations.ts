import type { Kysely } from 'kysely'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** Hooks, integrations, their deliveries, and mail notifications. */
export async function createIntegrations(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- Of a project, of a group, or, with neither, of the instance.
    create table hooks (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      url text not null,
      name text,
      description text,
      token_sealed text,
      signing_token_sealed text,
      url_variables_sealed text,
      custom_headers_sealed text,
      custom_webhook_template text,
      enable_ssl_verification boolean not null,
      push_events_branch_filter text not null,
      branch_filter_strategy text not null,
      failures integer not null default 0,
      disabled_until timestamptz,
      push_events boolean not null default false,
      tag_push_events boolean not null default false,
      issues_events boolean not null default false,
      confidential_issues_events boolean not null default false,
      merge_requests_events boolean not null default false,
      note_events boolean not null default false,
      confidential_note_events boolean not null default false,
      job_events boolean not null default false,
      pipeline_events boolean not null default false,
      wiki_page_events boolean not null default false,
      deployment_events boolean not null default false,
      releases_events boolean not null default false,
      feature_flag_events boolean not null default false,
      emoji_events boolean not null default false,
      resource_access_token_events boolean not null default false,
      vulnerability_events boolean not null default false,
      repository_update_events boolean not null default false,
      subgroup_events boolean not null default false,
      member_events boolean not null default false,
      project_events boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index hooks_project on hooks (project_id, id);
    create index hooks_group on hooks (group_id, id);

    create table services (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      slug text not null,
      active boolean not null,
      -- Has no settings of its own: the ones of the nearest group apply.
      inherits boolean not null,
      properties text not null,
      secrets_sealed text,
      push_events boolean not null default true,
      tag_push_events boolean not null default true,
      issues_events boolean not null default true,
      confidential_issues_events boolean not null default true,
      incident_events boolean not null default true,
      merge_requests_events boolean not null default true,
      note_events boolean not null default true,
      confidential_note_events boolean not null default true,
      commit_events boolean not null default true,
      job_events boolean not null default true,
      pipeline_events boolean not null default true,
      wiki_page_events boolean not null default true,
      deployment_events boolean not null default true,
      comment_on_event_enabled boolean not null default true,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('services', 'project_id', 'slug')} where project_id is not null;
    ${unique('services', 'group_id', 'slug')} where group_id is not null;

    -- Maps a chat user to a user here, for one integration: the owner of another integration could claim any chat
    -- user.
    create table chat_names (
      id identity,
      service_id bigint not null references services on delete cascade,
      user_id bigint not null references users on delete cascade,
      team_id text not null,
      team_domain text,
      chat_id text not null,
      chat_name text,
      last_used_at timestamptz,
      created_at timestamptz not null
    );
    ${unique('chat_names', 'service_id', 'team_id', 'chat_id')};
    create index chat_names_user on chat_names (user_id, id);

    -- A message for one receiver.
    create table hook_deliveries (
      id identity,
      message_id bigint not null references event_messages on delete cascade,
      hook_id bigint references hooks on delete cascade,
      service_id bigint,
      state text not null,
      attempts integer not null,
      due_at timestamptz not null,
      created_at timestamptz not null
    );
    create index hook_deliveries_message on hook_deliveries (message_id);
    create index hook_deliveries_hook_id on hook_deliveries (hook_id, id)
      where hook_id is not null and state = 'waiting';
    create index hook_deliveries_hook_id_due on hook_deliveries (hook_id, due_at)
      where hook_id is not null and state = 'waiting';
    create index hook_deliveries_service_id on hook_deliveries (service_id, id)
      where service_id is not null and state = 'waiting';
    create index hook_deliveries_service_id_due on hook_deliveries (service_id, due_at)
      where service_id is not null and state = 'waiting';
    create index hook_deliveries_hook on hook_deliveries (hook_id) where hook_id is not null;
    create index hook_deliveries_ended on hook_deliveries (state, created_at);

    -- One row for each receiver with pending deliveries, or with trouble in the last day.
    create table delivery_lanes (
      id identity,
      hook_id bigint references hooks on delete cascade,
      service_id bigint,
      due_at timestamptz not null,
      lease_until timestamptz,
      troubled boolean not null,
      -- The owner of the receiver, so that the receivers of one owner cannot use all concurrent deliveries. Null:
      -- unknown, or the instance.
      owner_id bigint,
      lease_holder text
    );
    ${unique('delivery_lanes', 'hook_id')};
    ${unique('delivery_lanes', 'service_id')};
    create index delivery_lanes_due on delivery_lanes (troubled, due_at);
    create index delivery_lanes_due_owner on delivery_lanes (troubled, due_at, owner_id);

    -- The log of what was sent.
    create table hook_attempts (
      id identity,
      hook_id bigint not null references hooks on delete cascade,
      -- Null: a test.
      message_id bigint references event_messages on delete cascade,
      trigger text not null,
      url text not null,
      request_headers text not null,
      -- Null if it equals the body of the message.
      request_data text,
      response_status integer,
      response_headers text not null,
      response_body text not null,
      execution_duration double precision not null,
      error text,
      created_at timestamptz not null
    );
    create index hook_attempts_hook on hook_attempts (hook_id, id);
    create index hook_attempts_message on hook_attempts (message_id);
    create index hook_attempts_age on hook_attempts (created_at);

    -- Past events to send again.
    create table hook_replays (
      id identity,
      hook_id bigint not null references hooks on delete cascade,
      event_ids text not null,
      created_at timestamptz not null
    );
    create index hook_replays_hook on hook_replays (hook_id);

    -- Mail notifications: which user got which, so that nobody gets one twice.
    create table notifications (
      id identity,
      -- The same value each time the event is delivered.
      source text not null,
      kind text not null,
      project_id bigint not null references projects on delete cascade,
      by_id bigint references users on delete set null,
      facts text not null,
      created_at timestamptz not null
    );
    ${unique('notifications', 'source')};
    create index notifications_created_at on notifications (created_at);
    create index notifications_project_id on notifications (project_id);
    create index notifications_by_id on notifications (by_id);

    create table notification_mails (
      notification_id bigint not null references notifications on delete cascade,
      user_id bigint not null references users on delete cascade,
      reason text not null,
      state text not null,
      constraint notification_mails_pk primary key (notification_id, user_id)
    );
    create index notification_mails_user_id on notification_mails (user_id);
    create index notification_mails_held on notification_mails (user_id, notification_id) where state = 'held';
  `
}
