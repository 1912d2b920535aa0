import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { countChanges, countFacets, logChanges, logLinkChanges } from '../helpers/counts.ts'
import { definer } from '../helpers/define.ts'
import { unique, uniqueName } from '../helpers/names.ts'
import { createTextIndex } from '../helpers/text-index.ts'
import { postgresTrigger, sqliteTrigger, triggerAfter } from '../helpers/triggers.ts'
import { keepCount } from './items.ts'

/** Snippets, notes and reactions, references between texts, todos, activities and notification settings. */
export async function createNotes(db: Kysely<never>): Promise<void> {
  await createSnippets(db)
  await createNoteTables(db)
  await countNotes(db)
  await createReferences(db)
  await createTodos(db)
  await createActivities(db)
}

async function createSnippets(db: Kysely<never>): Promise<void> {
  const define = definer(db)

  await define`
    -- Of a user, or of a project if one is set.
    create table snippets (
      id identity,
      project_id bigint references projects on delete cascade,
      author_id bigint not null references users on delete cascade,
      title text not null,
      description text,
      visibility text not null,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index snippets_project on snippets (project_id, id);
    create index snippets_author on snippets (author_id, id);
    create index snippets_visibility on snippets (visibility, id);
  `
  await countChanges(db, 'snippets', ['visibility', 'title', 'description'])
  await createTextIndex(db, 'snippets', ['title', 'description'])
  await logChanges(db, 'snippets', { scope: 'author_id', columns: ['project_id', 'visibility', 'created_at'] })

  await define`
    create table snippet_files (
      id identity,
      snippet_id bigint not null references snippets on delete cascade,
      path text not null,
      content text not null
    );
    ${unique('snippet_files', 'snippet_id', 'path')};
  `
}

async function createNoteTables(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- Notes of an issue, a merge request, a snippet or a commit; the notes of a discussion share its id.
    create table notes (
      id identity,
      project_id bigint not null references projects on delete cascade,
      issue_id bigint references issues on delete cascade,
      commit_sha text,
      discussion_id text not null,
      type text,
      author_id bigint references users on delete set null,
      body text not null,
      system boolean not null default false,
      -- The kind of a system note.
      action text,
      internal boolean not null default false,
      -- The position on a diff, as JSON.
      position text,
      line_code text,
      resolved_at timestamptz,
      resolved_by_id bigint references users on delete set null,
      -- The record that a system note mentions: an issue, or a project whose commit it was. Either may be deleted by now.
      about_issue_id bigint,
      about_project_id bigint,
      merge_request_id bigint references merge_requests on delete cascade,
      snippet_id bigint references snippets on delete cascade,
      -- The position on a diff before its line moved.
      original_position text,
      -- The commit of a merge request that a thread is about.
      thread_commit_sha text,
      updated_by_id bigint references users on delete set null,
      resolved_by_push boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index notes_issue_created_at on notes (issue_id, created_at, id);
    create index notes_issue_updated_at on notes (issue_id, updated_at, id);
    create index notes_commit on notes (project_id, commit_sha, id);
    create index notes_discussion on notes (discussion_id, id);
    create index notes_author on notes (author_id, id);
    create index notes_resolved_by on notes (resolved_by_id);
    create index notes_merge_request_created_at on notes (merge_request_id, created_at, id);
    create index notes_merge_request_updated_at on notes (merge_request_id, updated_at, id);
    create index notes_snippet_created_at on notes (snippet_id, created_at, id);
    create index notes_snippet_updated_at on notes (snippet_id, updated_at, id);
    create index notes_updated_by_id on notes (updated_by_id) where updated_by_id is not null;
  `
  await countChanges(db, 'notes', ['body', 'internal'], 'note_texts')
  await createTextIndex(db, 'notes', ['body'], 'project_id')

  await define`
    create table award_emoji (
      id identity,
      user_id bigint not null references users on delete cascade,
      name text not null,
      issue_id bigint references issues on delete cascade,
      note_id bigint references notes on delete cascade,
      merge_request_id bigint references merge_requests on delete cascade,
      snippet_id bigint references snippets on delete cascade,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('award_emoji', 'issue_id', 'user_id', 'name')};
    ${unique('award_emoji', 'note_id', 'user_id', 'name')};
    create index award_emoji_user on award_emoji (user_id, name);
    ${unique('award_emoji', 'merge_request_id', 'user_id', 'name')};
    ${unique('award_emoji', 'snippet_id', 'user_id', 'name')};

    -- Users who want notifications about a record, or explicitly none.
    create table subscriptions (
      id identity,
      user_id bigint not null references users on delete cascade,
      issue_id bigint references issues on delete cascade,
      label_id bigint references labels on delete cascade,
      -- The project in which a group label is subscribed to.
      project_id bigint references projects on delete cascade,
      subscribed boolean not null,
      merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    ${unique('subscriptions', 'issue_id', 'user_id')};
    create index subscriptions_user on subscriptions (user_id);
    create index subscriptions_project on subscriptions (project_id);
    create unique index ${uniqueName('subscriptions', ['label_id', 'user_id', 'project_id'])}
      on subscriptions (label_id, user_id, coalesce(project_id, 0))
      where label_id is not null;
    ${unique('subscriptions', 'merge_request_id', 'user_id')};

    -- IP address and user agent of the author, for administrators who look for spam.
    create table user_agent_details (
      id identity,
      issue_id bigint references issues on delete cascade,
      user_agent text not null,
      ip_address text not null,
      snippet_id bigint references snippets on delete cascade,
      created_at timestamptz not null
    );
    create index user_agent_details_issue on user_agent_details (issue_id);
    create index user_agent_details_snippet on user_agent_details (snippet_id);
  `
}

async function createReferences(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- Which text refers to which record. The source is the text of an issue, a merge request, a snippet or a commit,
    -- or a note on one of them.
    create table text_references (
      id identity,
      source_issue_id bigint references issues on delete cascade,
      source_note_id bigint references notes on delete cascade,
      source_project_id bigint not null references projects on delete cascade,
      source_sha text,
      target_issue_id bigint references issues on delete cascade,
      target_project_id bigint not null references projects on delete cascade,
      target_sha text,
      -- The system note about the reference; one for each pair.
      note_id bigint references notes on delete set null,
      source_merge_request_id bigint references merge_requests on delete cascade,
      target_merge_request_id bigint references merge_requests on delete cascade,
      source_snippet_id bigint references snippets on delete cascade,
      created_at timestamptz not null
    );
    create index text_references_source_issue on text_references (source_issue_id, source_note_id);
    create index text_references_source_note on text_references (source_note_id);
    create index text_references_source_commit on text_references (source_project_id, source_sha);
    create index text_references_target_issue on text_references (target_issue_id, source_issue_id);
    create index text_references_target_commit on text_references (target_project_id, target_sha);
    create index text_references_note on text_references (note_id);
    create index text_references_source_merge_request on text_references (source_merge_request_id, source_note_id);
    create index text_references_target_merge_request on text_references (target_merge_request_id);
    create index text_references_source_snippet on text_references (source_snippet_id, source_note_id);

    -- Which text mentions which user.
    create table text_mentions (
      id identity,
      source_issue_id bigint references issues on delete cascade,
      source_note_id bigint references notes on delete cascade,
      source_project_id bigint not null references projects on delete cascade,
      source_sha text,
      user_id bigint not null references users on delete cascade,
      source_merge_request_id bigint references merge_requests on delete cascade,
      source_snippet_id bigint references snippets on delete cascade,
      created_at timestamptz not null
    );
    create index text_mentions_source_issue on text_mentions (source_issue_id, source_note_id);
    create index text_mentions_source_note on text_mentions (source_note_id);
    create index text_mentions_source_commit on text_mentions (source_project_id, source_sha);
    create index text_mentions_user on text_mentions (user_id);
    create index text_mentions_source_merge_request on text_mentions (source_merge_request_id, source_note_id);
    create index text_mentions_source_snippet on text_mentions (source_snippet_id, source_note_id);

    -- Which text mentions which group; null means the members of the project.
    create table text_group_mentions (
      id identity,
      source_issue_id bigint references issues on delete cascade,
      source_note_id bigint references notes on delete cascade,
      source_snippet_id bigint references snippets on delete cascade,
      source_project_id bigint not null references projects on delete cascade,
      source_sha text,
      group_id bigint references namespaces on delete cascade,
      source_merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    create index text_group_mentions_source_issue on text_group_mentions (source_issue_id, source_note_id);
    create index text_group_mentions_source_note on text_group_mentions (source_note_id);
    create index text_group_mentions_source_snippet on text_group_mentions (source_snippet_id, source_note_id);
    create index text_group_mentions_source_commit on text_group_mentions (source_project_id, source_sha);
    create index text_group_mentions_group on text_group_mentions (group_id);
    create index text_group_mentions_source_merge_request on text_group_mentions (source_merge_request_id);

    -- Events of an issue or a merge request, for charts; system notes tell the same.
    create table resource_label_events (
      id identity,
      issue_id bigint references issues on delete cascade,
      user_id bigint references users on delete set null,
      label_id bigint references labels on delete set null,
      action text not null,
      merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    create index resource_label_events_issue on resource_label_events (issue_id, id);
    create index resource_label_events_user on resource_label_events (user_id);
    create index resource_label_events_label_id on resource_label_events (label_id);
    create index resource_label_events_merge_request on resource_label_events (merge_request_id, id);

    create table resource_state_events (
      id identity,
      issue_id bigint references issues on delete cascade,
      user_id bigint references users on delete set null,
      state text not null,
      merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    create index resource_state_events_issue on resource_state_events (issue_id, id);
    create index resource_state_events_user on resource_state_events (user_id);
    create index resource_state_events_merge_request on resource_state_events (merge_request_id, id);

    create table resource_milestone_events (
      id identity,
      issue_id bigint references issues on delete cascade,
      user_id bigint references users on delete set null,
      milestone_id bigint references milestones on delete set null,
      action text not null,
      state text not null,
      merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    create index resource_milestone_events_issue on resource_milestone_events (issue_id, id);
    create index resource_milestone_events_user on resource_milestone_events (user_id);
    create index resource_milestone_events_milestone_id on resource_milestone_events (milestone_id);
    create index resource_milestone_events_merge_request on resource_milestone_events (merge_request_id, id);
  `
}

async function createTodos(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- About an issue, a merge request or a commit.
    create table todos (
      id identity,
      user_id bigint not null references users on delete cascade,
      project_id bigint not null references projects on delete cascade,
      -- The note that caused it.
      note_id bigint references notes on delete cascade,
      author_id bigint not null references users on delete cascade,
      action text not null,
      state text not null default 'pending',
      -- The event it was created from: an event that is delivered twice creates one todo.
      source text,
      issue_id bigint references issues on delete cascade,
      commit_sha text,
      -- Not visible to everybody who sees the project's issues; set by triggers.
      reserved boolean not null default false,
      merge_request_id bigint references merge_requests on delete cascade,
      type text generated always as (case when merge_request_id is not null then 'MergeRequest'
        when commit_sha is not null then 'Commit' else 'Issue' end) stored,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index todos_user_id_state_id on todos (user_id, state, id);
    create index todos_project_id on todos (project_id);
    create index todos_note_id on todos (note_id);
    create index todos_author_id on todos (author_id);
    ${unique('todos', 'user_id', 'source')} where source is not null;
    create index todos_issue_id on todos (issue_id);
    ${unique('todos', 'user_id', 'issue_id')} where state = 'pending';
    ${unique('todos', 'user_id', 'project_id', 'commit_sha')} where state = 'pending' and commit_sha is not null;
    create index todos_merge_request_id on todos (merge_request_id);
    ${unique('todos', 'user_id', 'merge_request_id')} where state = 'pending' and merge_request_id is not null;
    create index todos_reserved on todos (user_id, state) where reserved;
    create index todos_user_project_id on todos (user_id, state, project_id, id);
    create index todos_user_author_id on todos (user_id, state, author_id, id);
  `
  await countFacets(db, 'todos', {
    user_id: 'integer',
    state: 'text',
    project_id: 'integer',
    type: 'text',
    author_id: 'integer',
    action: 'text',
    reserved: 'boolean',
  })
  if (!isSqlite(db)) await define`create index todos_facets_user on todos_facets (user_id, state);`
  await logChanges(db, 'todos', { scope: 'user_id', columns: ['state', 'reserved'] })
  await reserveTodos(db)
}

async function createActivities(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  await define`
    -- What users did, for their profiles and for the feeds of projects.
    create table activities (
      id identity,
      project_id bigint not null references projects on delete cascade,
      author_id bigint not null references users on delete cascade,
      kind text not null,
      -- Visible to Reporters and above, and to the users whose issue it is.
      reserved boolean not null default false,
      issue_id bigint references issues on delete cascade,
      milestone_id bigint references milestones on delete cascade,
      note_id bigint references notes on delete cascade,
      -- A description of a deleted target, as JSON.
      gone text,
      -- JSON.
      push text,
      -- The event it was created from: an event that is delivered twice creates one row.
      source text,
      merge_request_id bigint references merge_requests on delete cascade,
      created_at timestamptz not null
    );
    create index activities_project_id_created_at_id on activities (project_id, created_at, id);
    create index activities_project_id_kind_created_at_id on activities (project_id, kind, created_at, id);
    create index activities_author_id_kind_created_at_id on activities (author_id, kind, created_at, id);
    create index activities_created_at_id on activities (created_at, id);
    create index activities_issue_id on activities (issue_id);
    create index activities_milestone_id on activities (milestone_id);
    create index activities_note_id on activities (note_id);
    ${unique('activities', 'source')};
    create index activities_merge_request_id on activities (merge_request_id);
    create index activities_author_id_created_at_id on activities (author_id, created_at, id);
    -- Few: reserved activities are about confidential issues, or snippets.
    create index activities_reserved_snippets on activities (kind, project_id)
      where reserved and kind = 'snippet.commented';
  `
  await countFacets(db, 'activities', {
    project_id: 'integer',
    author_id: 'integer',
    kind: 'text',
    reserved: 'boolean',
  })
  await countChanges(db, 'activities', ['author_id', 'reserved'])
  if (!isSqlite(db)) await define`create index activities_facets_project on activities_facets (project_id);`
  await define`create index activities_facets_author on activities_facets (author_id);`
  await countSpans(db)

  await define`
    create table notification_settings (
      id identity,
      user_id bigint not null references users on delete cascade,
      -- With neither: the global setting.
      project_id bigint references projects on delete cascade,
      group_id bigint references namespaces on delete cascade,
      level integer not null,
      notification_email text,
      -- The explicitly set events, as JSON.
      events text not null default '{}',
      notified_of_own_activity boolean not null default false,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    ${unique('notification_settings', 'project_id', 'user_id')} where project_id is not null;
    ${unique('notification_settings', 'group_id', 'user_id')} where group_id is not null;
    ${unique('notification_settings', 'user_id')} where project_id is null and group_id is null;
    create index notification_settings_user on notification_settings (user_id);
  `
}

async function countNotes(db: Kysely<never>): Promise<void> {
  // Everybody sees the number of notes, so internal notes do not count.
  const isShown = (row: string) => `not ${row}.system and not ${row}.internal`
  const notes = { of: 'notes', column: 'user_notes_count', when: isShown }
  await keepCount(db, 'issues', { name: 'issue_notes', ...notes })
  await keepCount(db, 'merge_requests', { name: 'merge_request_user_notes_count', ...notes })
  for (const [column, emoji] of [
    ['upvotes', 'thumbsup'],
    ['downvotes', 'thumbsdown'],
  ] as const) {
    const votes = { of: 'award_emoji', column, when: (row: string) => `${row}.name = '${emoji}'` }
    await keepCount(db, 'issues', { name: `issue_${column}`, ...votes })
    await keepCount(db, 'merge_requests', { name: `merge_request_${column}`, ...votes })
  }
  const award = { link: 'award_emoji', scope: 'project_id', columns: ['name'] }
  await logLinkChanges(db, 'issues', { ...award, by: 'issue_id' })
  await logLinkChanges(db, 'merge_requests', { ...award, by: 'merge_request_id' })
}

/** Sets `todos.reserved`. Notes on merge requests are never internal. */
async function reserveTodos(db: Kysely<never>): Promise<void> {
  const isInternal = (row: string) => `exists (select 1 from notes n where n.id = ${row}.note_id and n.internal)`
  const isHidden = (row: string) =>
    `not exists (select 1 from issues i where i.id = ${row}.issue_id and not i.confidential)`
  const isReserved = `((new.merge_request_id is null and ${isHidden('new')}) or ${isInternal('new')})`
  if (isSqlite(db)) {
    const reserve = 'update todos set reserved = 1 where id = new.id;'
    await sqliteTrigger(db, 'todos_reserved_i', `after insert on todos when ${isReserved}`, reserve)
  } else {
    const body = `new.reserved := ${isReserved}; return new;`
    await postgresTrigger(db, 'todos_reserved', 'before insert on todos', body)
  }
  for (const [table, one, column] of [
    ['issues', 'issue', 'confidential'],
    ['notes', 'note', 'internal'],
  ] as const) {
    await triggerAfter(db, `update of ${column} on ${table}`, {
      name: `todos_reserved_${isSqlite(db) ? one : table}`,
      when: `new.${column} <> old.${column}`,
      body: `update todos set reserved = (${isHidden('todos')} or ${isInternal('todos')}) where ${one}_id = new.id;`,
    })
  }
}

/**
 * The number of activities per kind and span of time, for lists between two days: of each user, and of each project
 * with author 0. On PostgreSQL every change inserts its own rows, and a job merges them.
 */
async function countSpans(db: Kysely<never>): Promise<void> {
  const define = definer(db)
  const list = 'author_id, unit, start, project_id, kind, reserved'
  const once = isSqlite(db) ? `, constraint activity_spans_unique primary key (${list})` : ''
  await define`
    create table activity_spans (
      author_id bigint not null,
      -- "day", "month" or "year".
      unit text not null,
      -- "2026-11-16", "2026-11" or "2026".
      start text not null,
      project_id bigint not null,
      kind text not null,
      reserved boolean not null,
      total bigint not null${once}
    );
    create index activity_spans_project on activity_spans (project_id, author_id, unit, start, kind, reserved, total);
  `
  const units = { day: 'YYYY-MM-DD', month: 'YYYY-MM', year: 'YYYY' }
  const startOf = (row: string, format: string) =>
    isSqlite(db)
      ? `substr(${row}.created_at, 1, ${format.length})`
      : `to_char(${row}.created_at at time zone 'UTC', '${format}')`
  const values = (row: string, by: number) =>
    [`${row}.author_id`, '0'].flatMap((author) =>
      Object.entries(units).map(
        ([unit, format]) => `(${author}, '${unit}', ${startOf(row, format)},
          ${row}.project_id, ${row}.kind, ${row}.reserved, ${by})`,
      ),
    )
  const add = (row: string, by: number) =>
    `insert into activity_spans (${list}, total) values ${values(row, by).join(', ')}`
  const changed = 'update of author_id, created_at, reserved on activities'
  if (isSqlite(db)) {
    const or = ` on conflict (${list}) do update set total = total + excluded.total;`
    const [more, less] = [add('new', 1) + or, add('old', -1) + or]
    await sqliteTrigger(db, 'activity_spans_i', 'after insert on activities', more)
    await sqliteTrigger(db, 'activity_spans_d', 'after delete on activities', less)
    await sqliteTrigger(db, 'activity_spans_u', `after ${changed}`, `${less} ${more}`)
  } else {
    await define`create index activity_spans_author on activity_spans (author_id, unit, start)
      include (project_id, kind, reserved, total);`
    const body = `if tg_op <> 'INSERT' then ${add('old', -1)}; end if;
      if tg_op <> 'DELETE' then ${add('new', 1)}; end if;
      return null;`
    await postgresTrigger(db, 'activity_spans_kept', `after insert or delete or ${changed}`, body)
  }
  for (const [table, whose, column] of [
    ['projects', 'project', 'project_id'],
    ['users', 'author', 'author_id'],
  ] as const) {
    const name = `activity_spans_${isSqlite(db) ? whose : table}`
    await triggerAfter(db, `delete on ${table}`, { name, body: `delete from activity_spans where ${column} = old.id;` })
  }
}
