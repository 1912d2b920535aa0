import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges, countFacets, logChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { createTextIndex } from '../helpers/text-index.ts'
import { postgresTrigger, sqliteTrigger } from '../helpers/triggers.ts'
import { raiseVersions } from '../helpers/versions.ts'
import { keepLabelPriority, keepSince, orders } from './items.ts'

/** The columns that lists of merge requests are filtered by. */
const FILTERED = [
  'state',
  'draft',
  'author_id',
  'title',
  'description',
  'milestone_id',
  'source_branch',
  'target_branch',
  'source_project_id',
  'merge_user_id',
]

/** Merge requests with their versions, and the users, labels and issues that they are linked to. */
export async function createMergeRequests(db: Kysely<never>): Promise<void> {
  await createMergeRequestTable(db)
  await createLinks(db)
  await createVersions(db)
  await keepLabelPriority(db, 'merge_requests')
  await countClosing(db)
  await countLabels(db)
}

async function createMergeRequestTable(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    create table merge_requests (
      id identity,
      -- The target project, which the merge request belongs to.
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      source_project_id bigint references projects on delete set null,
      source_branch text not null,
      target_branch text not null,
      author_id bigint references users on delete set null,
      title text not null,
      description text,
      state text not null default 'opened',
      -- As its title says.
      draft boolean not null default false,
      discussion_locked boolean,
      milestone_id bigint references milestones on delete set null,
      squash boolean not null default false,
      allow_collaboration boolean not null default false,
      approvals_before_merge integer,
      -- The choice of the author, and of the user who merges.
      force_remove_source_branch boolean not null default false,
      should_remove_source_branch boolean,
      -- Of the newest version, so that lists need not read it.
      head_sha text,
      base_sha text,
      start_sha text,
      changes_count text,
      -- Whether these two commits can be merged; valid for this pair only.
      check_head text,
      check_target text,
      check_result text,
      -- Paths, as JSON.
      check_conflicts text,
      auto_merge boolean not null default false,
      -- The options of the user who enabled auto-merge, as JSON.
      auto_merge_wish text,
      merge_user_id bigint references users on delete set null,
      merge_error text,
      merge_commit_sha text,
      squash_commit_sha text,
      merged_at timestamptz,
      -- The merge in progress, as JSON: after a crash another process finishes or undoes it.
      merging text,
      closed_at timestamptz,
      closed_by_id bigint references users on delete set null,
      time_estimate integer not null default 0,
      total_time_spent integer not null default 0,
      tasks integer not null default 0,
      tasks_completed integer not null default 0,
      -- Maintained by triggers.
      user_notes_count integer not null default 0,
      upvotes integer not null default 0,
      downvotes integer not null default 0,
      -- The highest priority (the lowest number) of the labels.
      label_priority integer,
      updated_by_id bigint references users on delete set null,
      last_edited_at timestamptz,
      last_edited_by_id bigint references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('merge_requests', 'project_id', 'iid')};
    -- The sort orders of lists. Without a value, rows come last in either direction. A merge request is "locked" for
    -- a moment; lists show it as open.
    ${orders('merge_requests', {
      created_at: 'created_at',
      updated_at: 'updated_at',
      title: '(lower(title) collate "C")',
      upvotes: 'upvotes',
      told_state: "(case when state = 'locked' then 'opened' else state end), created_at",
      merged_at: "(coalesce(merged_at, 'infinity'::timestamptz))",
      merged_at_desc: "(coalesce(merged_at, '-infinity'::timestamptz))",
      label_priority: '(coalesce(label_priority, 2147483647))',
      label_priority_desc: '(coalesce(label_priority, -2147483648))',
    })}
    create index merge_requests_author on merge_requests (author_id, created_at, id);
    create index merge_requests_milestone on merge_requests (milestone_id, id);
    create index merge_requests_source on merge_requests (source_project_id, source_branch, state);
    create index merge_requests_target on merge_requests (project_id, target_branch, state);
    create index merge_requests_closed_by on merge_requests (closed_by_id);
    create index merge_requests_merge_commit on merge_requests (project_id, merge_commit_sha);
    create index merge_requests_head on merge_requests (project_id, head_sha);
    -- Rows that remain if a process ended in the middle.
    create index merge_requests_merging on merge_requests (id) where merging is not null;
    create index merge_requests_squash_commit on merge_requests (project_id, squash_commit_sha);
    create index merge_requests_source_branch on merge_requests (source_branch, project_id);
    create index merge_requests_target_branch on merge_requests (target_branch, project_id);
    create index merge_requests_drafts on merge_requests (project_id) where draft;
    -- Merge requests whose creation date is after their last change: very few.
    create index merge_requests_odd_project_id on merge_requests (project_id, created_at)
      where updated_at < created_at;
    create index merge_requests_odd_created_at on merge_requests (created_at) where updated_at < created_at;
    create index merge_requests_merge_user on merge_requests (merge_user_id, created_at, id);
    create index merge_requests_updated_by_id on merge_requests (updated_by_id) where updated_by_id is not null;
    create index merge_requests_last_edited_by_id on merge_requests (last_edited_by_id)
      where last_edited_by_id is not null;
  `
  await raiseVersions(db, 'merge_requests')
  await createSubstringIndex(db, 'merge_requests', ['title', 'description'])
  await createTextIndex(db, 'merge_requests', ['title', 'description'], 'project_id')
  await countFacets(db, 'merge_requests', { project_id: 'integer', state: 'text' })
  if (!isSqlite(db)) await define`create index merge_requests_facets_project on merge_requests_facets (project_id);`
  await countChanges(db, 'merge_requests', [...FILTERED, 'merged_at'])
}

async function createLinks(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- The heads of the target branches of merge requests: a push writes one row, however many merge requests there
    -- are.
    create table merge_targets (
      project_id bigint not null references projects on delete cascade,
      branch text not null,
      sha text,
      constraint merge_targets_unique primary key (project_id, branch)
    );

    create table merge_request_assignees (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      since timestamptz,
      constraint merge_request_assignees_unique primary key (merge_request_id, user_id)
    );
    create index merge_request_assignees_since on merge_request_assignees (user_id, since, merge_request_id);
  `
  await countChanges(db, 'merge_request_assignees', ['user_id'])
  await keepSince(db, 'merge_request_assignees', 'merge_requests')

  await define`
    create table merge_request_reviewers (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      state text not null default 'unreviewed',
      since timestamptz,
      created_at timestamptz not null,
      constraint merge_request_reviewers_unique primary key (merge_request_id, user_id)
    );
    create index merge_request_reviewers_since on merge_request_reviewers (user_id, since, merge_request_id);
  `
  await countChanges(db, 'merge_request_reviewers', ['user_id'])
  await keepSince(db, 'merge_request_reviewers', 'merge_requests')

  await define`
    create table merge_request_labels (
      merge_request_id bigint not null references merge_requests on delete cascade,
      label_id bigint not null references labels on delete cascade,
      constraint merge_request_labels_unique primary key (merge_request_id, label_id)
    );
    create index merge_request_labels_label_id on merge_request_labels (label_id, merge_request_id);

    create table merge_request_approvals (
      merge_request_id bigint not null references merge_requests on delete cascade,
      user_id bigint not null references users on delete cascade,
      since timestamptz,
      created_at timestamptz not null,
      constraint merge_request_approvals_unique primary key (merge_request_id, user_id)
    );
    create index merge_request_approvals_since on merge_request_approvals (user_id, since, merge_request_id);

    -- Issues that the merge will close, according to its texts and commits.
    create table merge_request_closes (
      merge_request_id bigint not null references merge_requests on delete cascade,
      issue_id bigint not null references issues on delete cascade,
      constraint merge_request_closes_unique primary key (merge_request_id, issue_id)
    );
    create index merge_request_closes_issue_id on merge_request_closes (issue_id, merge_request_id);
  `
  await keepSince(db, 'merge_request_approvals', 'merge_requests')
  await countChanges(db, 'merge_request_closes', ['issue_id'])
  const byUser = { by: 'merge_request_id', columns: ['user_id'] }
  await logChanges(db, 'merge_requests', {
    scope: 'project_id',
    columns: [...FILTERED, 'created_at', 'updated_at'],
    links: {
      merge_request_assignees: byUser,
      merge_request_reviewers: byUser,
      merge_request_approvals: byUser,
      merge_request_labels: { by: 'merge_request_id', columns: ['label_id'] },
    },
  })
}

async function createVersions(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table merge_request_versions (
      id identity,
      merge_request_id bigint not null references merge_requests on delete cascade,
      head_sha text,
      base_sha text,
      start_sha text,
      files integer not null,
      overflow boolean not null default false,
      -- Identifies the changes themselves: a rebase does not change it.
      patch_id text,
      created_at timestamptz not null
    );
    create index merge_request_versions_of on merge_request_versions (merge_request_id, id);

    -- Finds the merge request of a commit by the commit's id.
    create table merge_request_commits (
      merge_request_id bigint not null references merge_requests on delete cascade,
      sha text not null,
      constraint merge_request_commits_unique primary key (sha, merge_request_id)
    );
    create index merge_request_commits_of on merge_request_commits (merge_request_id);

    -- Merge requests that must be merged before others.
    create table merge_request_blocks (
      id identity,
      blocking_id bigint not null references merge_requests on delete cascade,
      blocked_id bigint not null references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    ${unique('merge_request_blocks', 'blocked_id', 'blocking_id')};
    create index merge_request_blocks_blocking on merge_request_blocks (blocking_id, id);
  `
}

/** `issues.merge_requests_count`: how many merge requests would close the issue. */
async function countClosing(db: Kysely<never>): Promise<void> {
  const add = (row: string, by: string) =>
    `update issues set merge_requests_count = merge_requests_count ${by} where id = ${row}.issue_id;`
  const [name, table] = ['issues_merge_requests_count', 'merge_request_closes']
  if (isSqlite(db)) {
    await sqliteTrigger(db, `${name}_i`, `after insert on ${table}`, add('new', '+ 1'))
    await sqliteTrigger(db, `${name}_d`, `after delete on ${table}`, add('old', '- 1'))
    return
  }
  const body = `if tg_op = 'INSERT' then ${add('new', '+ 1')} else ${add('old', '- 1')} end if; return null;`
  await postgresTrigger(db, name, `after insert or delete on ${table}`, body)
}

const isOpen = (row: string) => `${row}.state in ('opened', 'locked')`
const INTO = 'insert into merge_request_labels_facets (label_id, project_id, total)'
/**
 * One link between an existing merge request and an existing label: when either is deleted, its counts are deleted with
 * it.
 */
const ofLink = (link: string, by: number) => `${INTO} select ${link}.label_id, m.project_id, ${by} from merge_requests m
  where m.id = ${link}.merge_request_id and ${isOpen('m')} and exists (select 1 from labels where id = ${link}.label_id)`
/** All links of one merge request. */
const ofOne = (row: string, by: number) => `${INTO} select l.label_id, ${row}.project_id, ${by}
  from merge_request_labels l where l.merge_request_id = ${row}.id and ${isOpen(row)}`
const forget = (column: string) => `delete from merge_request_labels_facets where ${column} = old.id;`

/** The number of open merge requests per label and project, as for issues. */
async function countLabels(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  const once = isSqlite(db) ? ', constraint merge_request_labels_facets_unique primary key (label_id, project_id)' : ''
  await define`
    create table merge_request_labels_facets (
      total bigint not null,
      label_id bigint not null,
      project_id bigint not null${once}
    );
    create index merge_request_labels_facets_project on merge_request_labels_facets (project_id);
  `
  const name = 'merge_request_labels_facets'
  if (isSqlite(db)) {
    const or = ' on conflict (label_id, project_id) do update set total = total + excluded.total;'
    const isOther = 'old.state <> new.state'
    const moved = ofOne('old', -1) + or + ofOne('new', 1) + or
    await sqliteTrigger(db, `${name}_i`, 'after insert on merge_request_labels', ofLink('new', 1) + or)
    await sqliteTrigger(db, `${name}_d`, 'after delete on merge_request_labels', ofLink('old', -1) + or)
    await sqliteTrigger(db, `${name}_u`, `after update of state on merge_requests when ${isOther}`, moved)
    await sqliteTrigger(db, `${name}_gone`, 'before delete on merge_requests', ofOne('old', -1) + or)
    await sqliteTrigger(db, `${name}_label`, 'after delete on labels', forget('label_id'))
    await sqliteTrigger(db, `${name}_project`, 'after delete on projects', forget('project_id'))
    return
  }
  await define`create index merge_request_labels_facets_label on merge_request_labels_facets (label_id, project_id);`
  // Locked, so that the merge request cannot change its state concurrently without counting the link.
  const add = (link: string, by: number) => `${ofLink(link, by)} for no key update of m; return null;`
  const moved = `${ofOne('old', -1)}; ${ofOne('new', 1)}; return null;`
  await postgresTrigger(db, `${name}_i`, 'after insert on merge_request_labels', add('new', 1))
  await postgresTrigger(db, `${name}_d`, 'after delete on merge_request_labels', add('old', -1))
  await postgresTrigger(db, `${name}_u`, 'after update of state on merge_requests', moved, 'old.state <> new.state')
  await postgresTrigger(db, `${name}_gone`, 'before delete on merge_requests', `${ofOne('old', -1)}; return old;`)
  await postgresTrigger(db, `${name}_label`, 'after delete on labels', `${forget('label_id')} return null;`)
  await postgresTrigger(db, `${name}_project`, 'after delete on projects', `${forget('project_id')} return null;`)
}
