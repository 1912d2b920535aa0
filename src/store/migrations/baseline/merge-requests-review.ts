import type { Kysely } from 'kysely'
import { countChanges, logLinkChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'

/** Reviews, approvals and code owners of merge requests, and where merge requests are deployed. */
export async function createReviews(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- Notes of a review that are not published yet.
    create table draft_notes (
      id identity,
      merge_request_id bigint not null references merge_requests on delete cascade,
      author_id bigint not null references users on delete cascade,
      note text not null,
      -- The discussion it replies to.
      discussion_id text,
      resolve_discussion boolean not null default false,
      commit_sha text,
      -- JSON.
      position text,
      line_code text,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index draft_notes_of on draft_notes (merge_request_id, author_id, id);
    create index draft_notes_author on draft_notes (author_id);

    -- Suggestions of notes to replace lines.
    create table suggestions (
      id identity,
      note_id bigint not null references notes on delete cascade,
      -- Lines around the line of the note.
      lines_above integer not null,
      lines_below integer not null,
      from_content text not null,
      to_content text not null,
      commit_sha text
    );
    create index suggestions_note on suggestions (note_id, id);

    -- Of projects with their own settings; all others have the defaults.
    create table approval_settings (
      project_id bigint primary key references projects on delete cascade,
      reset_approvals_on_push boolean not null default true,
      disable_overriding_approvers_per_merge_request boolean not null default false,
      merge_requests_author_approval boolean not null default false,
      merge_requests_disable_committers_approval boolean not null default false,
      require_password_to_approve boolean not null default false
    );

    create table approval_rules (
      id identity,
      project_id bigint not null references projects on delete cascade,
      -- Null: applies to all merge requests of the project.
      merge_request_id bigint references merge_requests on delete cascade,
      -- The rule of the project that it was copied from.
      source_rule_id bigint references approval_rules on delete set null,
      rule_type text not null,
      name text not null,
      -- For code owners.
      section text,
      approvals_required integer not null,
      applies_to_all_protected_branches boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index approval_rules_project on approval_rules (project_id, merge_request_id, id);
    create index approval_rules_merge_request on approval_rules (merge_request_id, id);
    create index approval_rules_source on approval_rules (source_rule_id);
    ${unique('approval_rules', 'project_id', 'name')} where merge_request_id is null;
    ${unique('approval_rules', 'merge_request_id', 'name')}
      where merge_request_id is not null and rule_type <> 'code_owner';

    create table approval_rule_users (
      rule_id bigint not null references approval_rules on delete cascade,
      user_id bigint not null references users on delete cascade,
      constraint approval_rule_users_unique primary key (rule_id, user_id)
    );
    create index approval_rule_users_user_id on approval_rule_users (user_id, rule_id);
  `
  await countChanges(db, 'approval_rule_users', ['user_id'])

  await define`
    create table approval_rule_groups (
      rule_id bigint not null references approval_rules on delete cascade,
      group_id bigint not null references namespaces on delete cascade,
      constraint approval_rule_groups_unique primary key (rule_id, group_id)
    );
    create index approval_rule_groups_group_id on approval_rule_groups (group_id, rule_id);

    create table approval_rule_branches (
      rule_id bigint not null references approval_rules on delete cascade,
      protected_branch_id bigint not null references protected_branches on delete cascade,
      constraint approval_rule_branches_unique primary key (rule_id, protected_branch_id)
    );
    create index approval_rule_branches_protected_branch_id on approval_rule_branches (protected_branch_id, rule_id);

    -- The committers of the merge request.
    create table merge_request_committers (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      constraint merge_request_committers_unique primary key (merge_request_id, user_id)
    );
    create index merge_request_committers_user_id on merge_request_committers (user_id);

    -- The commits and the file that its committers and code owners were computed from.
    create table merge_request_ownership (
      merge_request_id bigint primary key references merge_requests on delete cascade,
      head_sha text,
      base_sha text,
      file_id text,
      -- There are more commits than were checked.
      overflow boolean not null default false
    );

    -- Which merge requests a deployment contains.
    create table deployment_merge_requests (
      merge_request_id bigint not null references merge_requests on delete cascade,
      deployment_id bigint not null references deployments on delete cascade,
      environment_id bigint not null references environments on delete cascade,
      deployed_at timestamptz not null,
      constraint deployment_merge_requests_unique primary key (merge_request_id, deployment_id)
    );
    create index deployment_merge_requests_deployment on deployment_merge_requests (deployment_id);
    create index deployment_merge_requests_environment on deployment_merge_requests (environment_id, deployed_at);
    create index deployment_merge_requests_moment on deployment_merge_requests (deployed_at);
  `
  await logLinkChanges(db, 'merge_requests', {
    link: 'deployment_merge_requests',
    scope: 'project_id',
    by: 'merge_request_id',
    columns: ['environment_id', 'deployed_at'],
  })
}
