import { sql, type Kysely } from 'kysely'
import { countChanges, countFacets } from '../helpers/counts.ts'
import { binaryText, columnTypes, isSqlite } from '../helpers/columns.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { createTextIndex } from '../helpers/text-index.ts'
import { keepVersions } from '../helpers/versions.ts'

export async function up(db: Kysely<never>): Promise<void> {
  await createMergeRequests(db)
  await createPeopleAndLabels(db)
  await createVersions(db)
  await talkAboutMergeRequests(db)
}

const index = (db: Kysely<never>, name: string, on: string, columns: string[]) =>
  db.schema.createIndex(name).on(on).columns(columns).execute()

async function createMergeRequests(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('merge_requests'))
    /** The target project, which the merge request belongs to. */
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('iid', ref, (c) => c.notNull())
    .addColumn('source_project_id', ref, (c) => c.references('projects.id').onDelete('set null'))
    .addColumn('source_branch', 'text', (c) => c.notNull())
    .addColumn('target_branch', 'text', (c) => c.notNull())
    .addColumn('author_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('opened'))
    /** As its title says. */
    .addColumn('draft', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('discussion_locked', boolean)
    .addColumn('milestone_id', ref, (c) => c.references('milestones.id').onDelete('set null'))
    .addColumn('squash', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('allow_collaboration', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('approvals_before_merge', 'integer')
    /** The choice of the author, and of the user who merges. */
    .addColumn('force_remove_source_branch', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('should_remove_source_branch', boolean)

    /** Of the newest version, so that lists need not read it. */
    .addColumn('head_sha', 'text')
    .addColumn('base_sha', 'text')
    .addColumn('start_sha', 'text')
    .addColumn('changes_count', 'text')

    /** Whether these two commits can be merged; valid for this pair only. */
    .addColumn('check_head', 'text')
    .addColumn('check_target', 'text')
    .addColumn('check_result', 'text')
    /** Paths, as JSON. */
    .addColumn('check_conflicts', 'text')

    .addColumn('auto_merge', boolean, (c) => c.notNull().defaultTo(no))
    /** The options of the user who enabled auto-merge, as JSON. */
    .addColumn('auto_merge_wish', 'text')
    .addColumn('merge_user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('merge_error', 'text')
    .addColumn('merge_commit_sha', 'text')
    .addColumn('squash_commit_sha', 'text')
    .addColumn('merged_at', timestamp)
    /** The merge in progress, as JSON: after a crash another process finishes or undoes it. */
    .addColumn('merging', 'text')
    .addColumn('closed_at', timestamp)
    .addColumn('closed_by_id', ref, (c) => c.references('users.id').onDelete('set null'))

    .addColumn('time_estimate', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('total_time_spent', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('tasks', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('tasks_completed', 'integer', (c) => c.notNull().defaultTo(0))
    /** Maintained by triggers. */
    .addColumn('user_notes_count', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('upvotes', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('downvotes', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await keepVersions(db, 'merge_requests')
  await db.schema
    .createIndex('merge_requests_project_id_iid_unique')
    .unique()
    .on('merge_requests')
    .columns(['project_id', 'iid'])
    .execute()
  const orders = {
    created_at: 'created_at',
    updated_at: 'updated_at',
    title: binaryText(db, 'title'),
    upvotes: 'upvotes',
  }
  for (const [name, order] of Object.entries(orders)) {
    await sql
      .raw(`create index merge_requests_project_${name} on merge_requests (project_id, (${order}), id)`)
      .execute(db)
    await sql.raw(`create index merge_requests_${name} on merge_requests ((${order}), id)`).execute(db)
  }
  const indexes = {
    project_state: ['project_id', 'state', 'created_at', 'id'],
    state: ['state', 'created_at', 'id'],
    author: ['author_id', 'created_at', 'id'],
    milestone: ['milestone_id', 'id'],
    source: ['source_project_id', 'source_branch', 'state'],
    target: ['project_id', 'target_branch', 'state'],
    merge_user: ['merge_user_id'],
    closed_by: ['closed_by_id'],
    merge_commit: ['project_id', 'merge_commit_sha'],
    head: ['project_id', 'head_sha'],
  }
  for (const [name, columns] of Object.entries(indexes))
    await index(db, `merge_requests_${name}`, 'merge_requests', columns)
  // Rows that remain if a process ended in the middle.
  await sql`create index merge_requests_merging on merge_requests (id) where merging is not null`.execute(db)
  await createSubstringIndex(db, 'merge_requests', ['title', 'description'])
  await createTextIndex(db, 'merge_requests', ['title', 'description'])
  await countFacets(db, 'merge_requests', { project_id: 'integer', state: 'text' })
  if (!isSqlite(db)) await index(db, 'merge_requests_facets_project', 'merge_requests_facets', ['project_id'])
  await countChanges(db, 'merge_requests', [
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
    'merged_at',
  ])
  await countChanges(db, 'merge_requests', ['updated_at'], 'merge_request_updates')

  /**
   * The heads of the target branches of merge requests: a push writes one row, however many merge requests there are.
   */
  await db.schema
    .createTable('merge_targets')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('branch', 'text', (c) => c.notNull())
    .addColumn('sha', 'text')
    .addPrimaryKeyConstraint('merge_targets_unique', ['project_id', 'branch'] as never[])
    .execute()
}

async function createPeopleAndLabels(db: Kysely<never>): Promise<void> {
  const { ref, timestamp } = columnTypes(db)
  const link = (name: string, column: string, to: string) =>
    db.schema
      .createTable(name)
      .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
      .addColumn(column, ref, (c) => c.notNull().references(to).onDelete('cascade'))
      .addPrimaryKeyConstraint(`${name}_unique`, ['merge_request_id', column] as never[])
  await link('merge_request_assignees', 'user_id', 'users.id').execute()
  await link('merge_request_reviewers', 'user_id', 'users.id')
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('unreviewed'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await link('merge_request_labels', 'label_id', 'labels.id').execute()
  await link('merge_request_approvals', 'user_id', 'users.id')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  /** Issues that the merge will close, according to its texts and commits. */
  await link('merge_request_closes', 'issue_id', 'issues.id').execute()
  for (const [name, column] of [
    ['assignees', 'user_id'],
    ['reviewers', 'user_id'],
    ['labels', 'label_id'],
    ['approvals', 'user_id'],
    ['closes', 'issue_id'],
  ] as const) {
    const table = `merge_request_${name}`
    await index(db, `${table}_${column}`, table, [column, 'merge_request_id'])
    await countChanges(db, table, [column])
  }
}

async function createVersions(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean, no } = columnTypes(db)
  await withId(db.schema.createTable('merge_request_versions'))
    .addColumn('merge_request_id', ref, (c) => c.notNull().references('merge_requests.id').onDelete('cascade'))
    .addColumn('head_sha', 'text')
    .addColumn('base_sha', 'text')
    .addColumn('start_sha', 'text')
    .addColumn('files', 'integer', (c) => c.notNull())
    .addColumn('overflow', boolean, (c) => c.notNull().defaultTo(no))
    /** Identifies the changes themselves: a rebase does not change it. */
    .addColumn('patch_id', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await index(db, 'merge_request_versions_of', 'merge_request_versions', ['merge_request_id', 'id'])
}

/** Notes and reactions for merge requests, as for issues. */
async function talkAboutMergeRequests(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  const column = (table: string, name = 'merge_request_id') =>
    db.schema
      .alterTable(table)
      .addColumn(name, ref, (c) => c.references('merge_requests.id').onDelete('cascade'))
      .execute()

  await column('notes')
  await index(db, 'notes_merge_request_created_at', 'notes', ['merge_request_id', 'created_at', 'id'])
  await index(db, 'notes_merge_request_updated_at', 'notes', ['merge_request_id', 'updated_at', 'id'])
  await column('award_emoji')
  await column('subscriptions')
  for (const [table, columns] of [
    ['award_emoji', ['merge_request_id', 'user_id', 'name']],
    ['subscriptions', ['merge_request_id', 'user_id']],
  ] as const) {
    const name = `${table}_${columns.join('_')}_unique`
    await db.schema
      .createIndex(name)
      .unique()
      .on(table)
      .columns(columns as never)
      .execute()
  }
  await column('activities')
  await index(db, 'activities_merge_request_id', 'activities', ['merge_request_id'])
  for (const kind of ['label', 'state', 'milestone']) {
    const table = `resource_${kind}_events`
    await column(table)
    await index(db, `${table}_merge_request`, table, ['merge_request_id', 'id'])
  }
  for (const table of ['text_references', 'text_mentions']) {
    await column(table, 'source_merge_request_id')
    await index(db, `${table}_source_merge_request`, table, ['source_merge_request_id', 'source_note_id'])
  }
  await column('text_references', 'target_merge_request_id')
  await index(db, 'text_references_target_merge_request', 'text_references', ['target_merge_request_id'])

  await keepCount(db, 'user_notes_count', 'notes', (row) => `not ${row}.system and not ${row}.internal`)
  await keepCount(db, 'upvotes', 'award_emoji', (row) => `${row}.name = 'thumbsup'`)
  await keepCount(db, 'downvotes', 'award_emoji', (row) => `${row}.name = 'thumbsdown'`)
}

async function keepCount(db: Kysely<never>, column: string, of: string, when: (row: string) => string): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const name = `merge_request_${column}`
  const wanted = (row: string) => `${row}.merge_request_id is not null and ${when(row)}`
  const add = (row: string, by: string) =>
    `update merge_requests set ${column} = ${column} ${by} where id = ${row}.merge_request_id;`
  if (isSqlite(db)) {
    await run(`create trigger ${name}_i after insert on ${of} when ${wanted('new')} begin ${add('new', '+ 1')} end`)
    await run(`create trigger ${name}_d after delete on ${of} when ${wanted('old')} begin ${add('old', '- 1')} end`)
    return
  }
  await run(`create function ${name}() returns trigger language plpgsql as $$ begin
    if tg_op = 'INSERT' then
      if ${wanted('new')} then ${add('new', '+ 1')} end if;
    elsif ${wanted('old')} then ${add('old', '- 1')} end if;
    return null;
  end $$`)
  await run(`create trigger ${name} after insert or delete on ${of} for each row execute function ${name}()`)
}
