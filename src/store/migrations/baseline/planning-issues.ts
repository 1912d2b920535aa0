import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges, countFacets, logChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique } from '../helpers/names.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { createTextIndex } from '../helpers/text-index.ts'
import { postgresTrigger, sqliteTrigger } from '../helpers/triggers.ts'
import { raiseVersions } from '../helpers/versions.ts'
import { keepLabelPriority, keepSince, orders } from './items.ts'

const LATEST = `'infinity'::date`
const EARLIEST = `'-infinity'::date`
const MOST = 2 ** 31 - 1
const LEAST = -(2 ** 31)

/** The columns that lists of issues are filtered by. */
const FILTERED = [
  'state',
  'confidential',
  'author_id',
  'title',
  'description',
  'milestone_id',
  'due_date',
  'issue_type',
  'closed_by_id',
  'weight',
]

/** Labels, milestones, issues and boards. */
export async function createIssues(db: Kysely<never>): Promise<void> {
  await createLabelsAndMilestones(db)
  await createIssueTables(db)
  await createBoards(db)
  await keepMilestoneDue(db)
  await keepLabelPriority(db, 'issues')
  if (!isSqlite(db)) await settlePriorities(db)
  await countLabels(db)
}

async function createLabelsAndMilestones(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- The last number assigned to records of a kind in a project or a group.
    create table iid_counters (
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      kind text not null,
      last bigint not null
    );
    ${unique('iid_counters', 'project_id', 'kind')};
    ${unique('iid_counters', 'group_id', 'kind')};

    -- Of a project or a group, never both.
    create table labels (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      title text not null,
      color text not null,
      description text,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('labels', 'project_id', 'title')};
    ${unique('labels', 'group_id', 'title')};
    create index labels_title on labels (title);
  `
  await countChanges(db, 'labels', ['title'], 'labels', { scope: 'project_id' })
  await raiseVersions(db, 'labels')

  await define`
    create table label_priorities (
      project_id bigint not null references projects on delete cascade,
      label_id bigint not null references labels on delete cascade,
      priority integer not null,
      constraint label_priorities_unique primary key (project_id, label_id)
    );
    create index label_priorities_label on label_priorities (label_id);

    -- Of a project or a group, never both.
    create table milestones (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      iid bigint not null,
      title text not null,
      description text,
      state text not null default 'active',
      start_date date,
      due_date date,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('milestones', 'project_id', 'iid')};
    ${unique('milestones', 'project_id', 'title')};
    ${unique('milestones', 'group_id', 'iid')};
    ${unique('milestones', 'group_id', 'title')};
    create index milestones_title on milestones (title);
    create index milestones_project_id on milestones (project_id, id);
    create index milestones_project_state_id on milestones (project_id, state, id);
    create index milestones_group_id on milestones (group_id, id);
    create index milestones_group_state_id on milestones (group_id, state, id);
  `
  await countChanges(db, 'milestones', ['description'], 'milestone_texts')
  await countChanges(db, 'milestones', ['title', 'state', 'start_date', 'due_date'], 'milestones', {
    scope: 'project_id',
  })
  await raiseVersions(db, 'milestones')
  await createTextIndex(db, 'milestones', ['title', 'description'], 'project_id')
  await createSubstringIndex(db, 'milestones', ['title', 'description'])
}

async function createIssueTables(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    create table issues (
      id identity,
      project_id bigint not null references projects on delete cascade,
      iid bigint not null,
      author_id bigint references users on delete set null,
      title text not null,
      description text,
      state text not null default 'opened',
      issue_type text not null default 'issue',
      confidential boolean not null default false,
      discussion_locked boolean,
      milestone_id bigint references milestones on delete set null,
      due_date date,
      weight integer,
      time_estimate integer not null default 0,
      total_time_spent integer not null default 0,
      -- Task items in the description.
      tasks integer not null default 0,
      tasks_completed integer not null default 0,
      -- Maintained by triggers, so they are correct after any change.
      user_notes_count integer not null default 0,
      upvotes integer not null default 0,
      downvotes integer not null default 0,
      merge_requests_count integer not null default 0,
      -- Sort columns, also maintained by triggers: the due date of the milestone, and the highest priority (the lowest
      -- number) of the labels.
      milestone_due date,
      label_priority integer,
      -- The manual position in the project; by id if null.
      relative_position double precision,
      closed_at timestamptz,
      closed_by_id bigint references users on delete set null,
      moved_to_id bigint references issues on delete set null,
      duplicated_to_id bigint references issues on delete set null,
      severity text not null default 'unknown',
      updated_by_id bigint references users on delete set null,
      last_edited_at timestamptz,
      last_edited_by_id bigint references users on delete set null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      version bigint not null default 1
    );
    ${unique('issues', 'project_id', 'iid')};
    -- The sort orders of lists. Without a value, rows come last in either direction.
    ${orders('issues', {
      updated_at: 'updated_at',
      title: '(lower(title) collate "C")',
      upvotes: 'upvotes',
      due_date: `(coalesce(due_date, ${LATEST}))`,
      due_date_desc: `(coalesce(due_date, ${EARLIEST}))`,
      relative_position: '(coalesce(relative_position, cast(id as double precision)))',
      milestone_due: `(coalesce(milestone_due, ${LATEST}))`,
      milestone_due_desc: `(coalesce(milestone_due, ${EARLIEST}))`,
      label_priority: `(coalesce(label_priority, ${MOST}))`,
      label_priority_desc: `(coalesce(label_priority, ${LEAST}))`,
      priority: `(coalesce(milestone_due, ${LATEST})), (coalesce(label_priority, ${MOST}))`,
      priority_desc: `(coalesce(milestone_due, ${EARLIEST})), (coalesce(label_priority, ${LEAST}))`,
      weight: `(coalesce(weight, ${MOST}))`,
      weight_desc: `(coalesce(weight, ${LEAST}))`,
    })}
    create index issues_created_at on issues (created_at, id);
    create index issues_state on issues (state, created_at, id);
    create index issues_author on issues (author_id, created_at, id);
    create index issues_milestone on issues (milestone_id, id);
    create index issues_closed_by_id on issues (closed_by_id);
    create index issues_moved_to_id on issues (moved_to_id);
    create index issues_duplicated_to_id on issues (duplicated_to_id);
    -- With the columns that most lists test, so that the default order is read from the index alone.
    create index issues_project_created_at on issues (project_id, created_at, id, state, confidential, author_id);
    create index issues_project_state on issues (project_id, state, created_at, id, confidential, author_id);
    -- Issues whose creation date is after their last change: very few.
    create index issues_odd_project_id on issues (project_id, created_at) where updated_at < created_at;
    create index issues_odd_created_at on issues (created_at) where updated_at < created_at;
    create index issues_confidential_author on issues (author_id) where confidential;
    create index issues_due on issues (due_date, id) where due_date is not null;
    create index issues_updated_by_id on issues (updated_by_id) where updated_by_id is not null;
    create index issues_last_edited_by_id on issues (last_edited_by_id) where last_edited_by_id is not null;
  `
  await raiseVersions(db, 'issues')
  await createSubstringIndex(db, 'issues', ['title', 'description'])
  await createTextIndex(db, 'issues', ['title', 'description'], 'project_id')
  await countFacets(db, 'issues', { project_id: 'integer', state: 'text', confidential: 'boolean' })
  if (!isSqlite(db)) await define`create index issues_facets_project on issues_facets (project_id);`
  await countChanges(db, 'issues', FILTERED)

  await define`
    create table issue_assignees (
      issue_id bigint not null references issues on delete cascade,
      user_id bigint not null references users on delete cascade,
      since timestamptz,
      constraint issue_assignees_unique primary key (issue_id, user_id)
    );
    create index issue_assignees_user on issue_assignees (user_id, issue_id);
    create index issue_assignees_since on issue_assignees (user_id, since, issue_id);
  `
  await countChanges(db, 'issue_assignees', ['user_id'])
  await keepSince(db, 'issue_assignees', 'issues')

  await define`
    create table issue_labels (
      issue_id bigint not null references issues on delete cascade,
      label_id bigint not null references labels on delete cascade,
      constraint issue_labels_unique primary key (issue_id, label_id)
    );
    create index issue_labels_label on issue_labels (label_id, issue_id);

    create table issue_links (
      id identity,
      source_id bigint not null references issues on delete cascade,
      target_id bigint not null references issues on delete cascade,
      link_type text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('issue_links', 'source_id', 'target_id')};
    create index issue_links_target on issue_links (target_id);
  `
  await logChanges(db, 'issues', {
    scope: 'project_id',
    columns: [...FILTERED, 'created_at', 'updated_at'],
    links: {
      issue_assignees: { by: 'issue_id', columns: ['user_id'] },
      issue_labels: { by: 'issue_id', columns: ['label_id'] },
    },
  })
}

async function createBoards(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- Of a project or a group, never both.
    create table boards (
      id identity,
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      name text not null,
      hide_backlog_list boolean not null default false,
      hide_closed_list boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index boards_project_id on boards (project_id, id);
    create index boards_group_id on boards (group_id, id);

    create table board_lists (
      id identity,
      board_id bigint not null references boards on delete cascade,
      label_id bigint not null references labels on delete cascade,
      position integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('board_lists', 'board_id', 'label_id')};
    create index board_lists_label on board_lists (label_id);
  `
}

/**
 * The due date of an issue's milestone. On PostgreSQL, a transaction that changes the date does not lock the milestone
 * against transactions that assign it: these lock the issue first, and the two could deadlock. A job finds concurrent
 * assignments later (`planning/settling.ts`) and calls the same function.
 */
async function keepMilestoneDue(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) {
    const due = `update issues set milestone_due = (select due_date from milestones where id = new.milestone_id)
      where id = new.id;`
    const assigned = 'after insert on issues when new.milestone_id is not null'
    await sqliteTrigger(db, 'issues_milestone_due_i', assigned, due)
    await sqliteTrigger(db, 'issues_milestone_due_u', 'after update of milestone_id on issues', due)
    await sqliteTrigger(
      db,
      'issues_milestone_due_m',
      'after update of due_date on milestones when new.due_date is not old.due_date',
      'update issues set milestone_due = new.due_date where milestone_id = new.id;',
    )
    return
  }
  // Issues are locked by id, then merge requests by id.
  await sql`create function settle_milestone_due(milestone bigint) returns void language plpgsql as $$ begin
    perform 1 from issues where milestone_id = milestone order by id for no key update;
    update issues set milestone_due = m.due_date from milestones m
      where m.id = milestone and issues.milestone_id = milestone and milestone_due is distinct from m.due_date;
  end $$`.execute(db)
  // A weak lock: a transaction that changes the date continues, and the job that settles it waits for this one.
  await postgresTrigger(
    db,
    'issues_milestone_due',
    'before insert or update of milestone_id on issues',
    `if new.milestone_id is null then new.milestone_due := null;
    elsif tg_op = 'INSERT' or new.milestone_id is distinct from old.milestone_id then
      select due_date into new.milestone_due from milestones where id = new.milestone_id for key share;
    end if;
    return new;`,
  )
  await postgresTrigger(
    db,
    'issues_milestone_due_m',
    'after update of due_date on milestones',
    `if new.due_date is distinct from old.due_date then perform settle_milestone_due(new.id); end if;
    return null;`,
  )
}

/** The same for the priority of a label, whose issues and merge requests have it as `label_priority`. */
async function settlePriorities(db: Kysely<never>): Promise<void> {
  const settle = (items: string, one: string) => `
    perform 1 from ${items} where project_id = project
      and id in (select ${one}_id from ${one}_labels where label_id = label) order by id for no key update;
    update ${items} set label_priority = (select min(q.priority) from ${one}_labels l
        join label_priorities q on q.label_id = l.label_id and q.project_id = ${items}.project_id
        where l.${one}_id = ${items}.id)
      where project_id = project and id in (select ${one}_id from ${one}_labels where label_id = label);`
  await sql
    .raw(`create function settle_label_priority(label bigint, project bigint) returns void language plpgsql as $$ begin
      ${settle('issues', 'issue')} ${settle('merge_requests', 'merge_request')} end $$`)
    .execute(db)
  await postgresTrigger(
    db,
    'issues_label_priority_q',
    'after insert or update or delete on label_priorities',
    `if tg_op = 'DELETE' then perform settle_label_priority(old.label_id, old.project_id);
    else perform settle_label_priority(new.label_id, new.project_id); end if;
    return null;`,
  )
}

const INTO = 'insert into issue_labels_facets (label_id, project_id, state, confidential, total)'
/** One link between an existing issue and an existing label: when either is deleted, its counts are deleted with it. */
const ofLink = (link: string, by: number) =>
  `${INTO} select ${link}.label_id, i.project_id, i.state, i.confidential, ${by} from issues i
    where i.id = ${link}.issue_id and exists (select 1 from labels where id = ${link}.label_id)`
/** All links of one issue. */
const ofIssue = (issue: string, by: number) =>
  `${INTO} select l.label_id, ${issue}.project_id, ${issue}.state, ${issue}.confidential, ${by}
    from issue_labels l where l.issue_id = ${issue}.id`
const IS_OTHER = '(old.state <> new.state or old.confidential <> new.confidential)'
const forget = (column: string) => `delete from issue_labels_facets where ${column} = old.id;`

/**
 * The number of issues of each kind per label and project, for lists of labels. Merged like other facets
 * (`store/counts.ts`); other facets count one table, these count links and their issues.
 */
async function countLabels(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  const kind = 'label_id, project_id, state, confidential'
  const once = isSqlite(db) ? `, constraint issue_labels_facets_unique primary key (${kind})` : ''
  await define`
    create table issue_labels_facets (
      total bigint not null,
      label_id bigint not null,
      project_id bigint not null,
      state text not null,
      confidential boolean not null${once}
    );
    create index issue_labels_facets_project on issue_labels_facets (project_id);
  `
  const name = 'issue_labels_facets'
  if (isSqlite(db)) {
    const or = ` on conflict (${kind}) do update set total = total + excluded.total;`
    const moved = ofIssue('old', -1) + or + ofIssue('new', 1) + or
    await sqliteTrigger(db, `${name}_i`, 'after insert on issue_labels', ofLink('new', 1) + or)
    await sqliteTrigger(db, `${name}_d`, 'after delete on issue_labels', ofLink('old', -1) + or)
    await sqliteTrigger(db, `${name}_u`, `after update of state, confidential on issues when ${IS_OTHER}`, moved)
    await sqliteTrigger(db, `${name}_gone`, 'before delete on issues', ofIssue('old', -1) + or)
    await sqliteTrigger(db, `${name}_label`, 'after delete on labels', forget('label_id'))
    await sqliteTrigger(db, `${name}_project`, 'after delete on projects', forget('project_id'))
    return
  }
  await define`create index issue_labels_facets_label on issue_labels_facets (label_id, project_id);`
  // Locked, so that the issue cannot change its state concurrently without counting the link.
  const add = (link: string, by: number) => `${ofLink(link, by)} for no key update of i; return null;`
  const moved = `${ofIssue('old', -1)}; ${ofIssue('new', 1)}; return null;`
  await postgresTrigger(db, `${name}_i`, 'after insert on issue_labels', add('new', 1))
  await postgresTrigger(db, `${name}_d`, 'after delete on issue_labels', add('old', -1))
  await postgresTrigger(db, `${name}_u`, 'after update of state, confidential on issues', moved, IS_OTHER)
  await postgresTrigger(db, `${name}_gone`, 'before delete on issues', `${ofIssue('old', -1)}; return old;`)
  await postgresTrigger(db, `${name}_label`, 'after delete on labels', `${forget('label_id')} return null;`)
  await postgresTrigger(db, `${name}_project`, 'after delete on projects', `${forget('project_id')} return null;`)
}
