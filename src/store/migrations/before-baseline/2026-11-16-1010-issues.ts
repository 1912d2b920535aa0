import { sql, type Kysely } from 'kysely'
import { countChanges, countFacets } from '../helpers/counts.ts'
import { binaryText, columnTypes, isSqlite } from '../helpers/columns.ts'
import { createSubstringIndex } from '../helpers/substring-index.ts'
import { keepVersions } from '../helpers/versions.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, date, boolean, no } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  await table('issues')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('iid', 'integer', (c) => c.notNull())
    .addColumn('author_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('title', 'text', (c) => c.notNull())
    .addColumn('description', 'text')
    .addColumn('state', 'text', (c) => c.notNull().defaultTo('opened'))
    .addColumn('issue_type', 'text', (c) => c.notNull().defaultTo('issue'))
    .addColumn('confidential', boolean, (c) => c.notNull().defaultTo(no))
    .addColumn('discussion_locked', boolean)
    .addColumn('milestone_id', ref, (c) => c.references('milestones.id').onDelete('set null'))
    .addColumn('due_date', date)
    .addColumn('weight', 'integer')
    .addColumn('time_estimate', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('total_time_spent', 'integer', (c) => c.notNull().defaultTo(0))
    /** Task items in the description. */
    .addColumn('tasks', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('tasks_completed', 'integer', (c) => c.notNull().defaultTo(0))
    /** Maintained by triggers, so they are correct after any change. */
    .addColumn('user_notes_count', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('upvotes', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('downvotes', 'integer', (c) => c.notNull().defaultTo(0))
    /** The manual position in the project; by id if null. */
    .addColumn('relative_position', 'double precision')
    .addColumn('closed_at', timestamp)
    .addColumn('closed_by_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('moved_to_id', ref, (c) => c.references('issues.id').onDelete('set null'))
    .addColumn('duplicated_to_id', ref, (c) => c.references('issues.id').onDelete('set null'))
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await keepVersions(db, 'issues')
  await db.schema
    .createIndex('issues_project_id_iid_unique')
    .unique()
    .on('issues')
    .columns(['project_id', 'iid'])
    .execute()
  // The sort orders of lists, of one project and of all.
  const last = isSqlite(db)
    ? { asc: `'9999-12-31'`, desc: `'0000-01-01'` }
    : { asc: `'infinity'::date`, desc: `'-infinity'::date` }
  const orders = {
    created_at: 'created_at',
    updated_at: 'updated_at',
    title: binaryText(db, 'title'),
    upvotes: 'upvotes',
    due_date: `coalesce(due_date, ${last.asc})`,
    due_date_desc: `coalesce(due_date, ${last.desc})`,
    relative_position: 'coalesce(relative_position, cast(id as double precision))',
  }
  for (const [name, order] of Object.entries(orders)) {
    await sql.raw(`create index issues_project_${name} on issues (project_id, (${order}), id)`).execute(db)
    await sql.raw(`create index issues_${name} on issues ((${order}), id)`).execute(db)
  }
  await index('issues_project_state', 'issues', ['project_id', 'state', 'created_at', 'id'])
  await index('issues_state', 'issues', ['state', 'created_at', 'id'])
  await index('issues_author', 'issues', ['author_id', 'created_at', 'id'])
  await index('issues_milestone', 'issues', ['milestone_id', 'id'])
  for (const column of ['closed_by_id', 'moved_to_id', 'duplicated_to_id'])
    await index(`issues_${column}`, 'issues', [column])
  await createSubstringIndex(db, 'issues', ['title', 'description'])
  await countFacets(db, 'issues', { project_id: 'integer', state: 'text', confidential: 'boolean' })
  if (!isSqlite(db)) await index('issues_facets_project', 'issues_facets', ['project_id'])
  await countChanges(db, 'issues', [
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
  ])
  await countChanges(db, 'issues', ['updated_at'], 'issue_updates')

  await db.schema
    .createTable('issue_assignees')
    .addColumn('issue_id', ref, (c) => c.notNull().references('issues.id').onDelete('cascade'))
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('issue_assignees_unique', ['issue_id', 'user_id'] as never[])
    .execute()
  await index('issue_assignees_user', 'issue_assignees', ['user_id', 'issue_id'])
  await countChanges(db, 'issue_assignees', ['user_id'])

  await db.schema
    .createTable('issue_labels')
    .addColumn('issue_id', ref, (c) => c.notNull().references('issues.id').onDelete('cascade'))
    .addColumn('label_id', ref, (c) => c.notNull().references('labels.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('issue_labels_unique', ['issue_id', 'label_id'] as never[])
    .execute()
  await index('issue_labels_label', 'issue_labels', ['label_id', 'issue_id'])
  await countChanges(db, 'issue_labels', ['label_id'])

  /** Users who want notifications about a record, or explicitly none. */
  await table('subscriptions')
    .addColumn('user_id', ref, (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('label_id', ref, (c) => c.references('labels.id').onDelete('cascade'))
    /** The project in which a group label is subscribed to. */
    .addColumn('project_id', ref, (c) => c.references('projects.id').onDelete('cascade'))
    .addColumn('subscribed', boolean, (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  for (const target of ['issue_id', 'label_id']) {
    await db.schema
      .createIndex(`subscriptions_${target}_user_id_unique`)
      .unique()
      .on('subscriptions')
      .columns([target, 'user_id'])
      .execute()
  }
  await index('subscriptions_user', 'subscriptions', ['user_id'])
  await index('subscriptions_project', 'subscriptions', ['project_id'])

  await table('issue_links')
    .addColumn('source_id', ref, (c) => c.notNull().references('issues.id').onDelete('cascade'))
    .addColumn('target_id', ref, (c) => c.notNull().references('issues.id').onDelete('cascade'))
    .addColumn('link_type', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('issue_links_source_id_target_id_unique')
    .unique()
    .on('issue_links')
    .columns(['source_id', 'target_id'])
    .execute()
  await index('issue_links_target', 'issue_links', ['target_id'])

  /** IP address and user agent of the author, for administrators who look for spam. */
  await table('user_agent_details')
    .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .addColumn('ip_address', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await index('user_agent_details_issue', 'user_agent_details', ['issue_id'])

  /** Events of an issue, for charts; system notes tell the same. */
  const happened = (name: string) =>
    table(name)
      .addColumn('issue_id', ref, (c) => c.references('issues.id').onDelete('cascade'))
      .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
      .addColumn('created_at', timestamp, (c) => c.notNull())
  await happened('resource_label_events')
    .addColumn('label_id', ref, (c) => c.references('labels.id').onDelete('set null'))
    .addColumn('action', 'text', (c) => c.notNull())
    .execute()
  await happened('resource_state_events')
    .addColumn('state', 'text', (c) => c.notNull())
    .execute()
  await happened('resource_milestone_events')
    .addColumn('milestone_id', ref, (c) => c.references('milestones.id').onDelete('set null'))
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .execute()
  for (const [kind, also] of [
    ['label', 'label_id'],
    ['state', null],
    ['milestone', 'milestone_id'],
  ] as const) {
    const events = `resource_${kind}_events`
    await index(`${events}_issue`, events, ['issue_id', 'id'])
    await index(`${events}_user`, events, ['user_id'])
    if (also) await index(`${events}_${also}`, events, [also])
  }

  await countOpenIssues(db)
}

/** `projects.open_issues_count` counts only issues that are not confidential. */
async function countOpenIssues(db: Kysely<never>): Promise<void> {
  const run = (text: string) => sql.raw(text).execute(db)
  const counts = (row: string) => `${row}.state = 'opened' and not ${row}.confidential`
  const add = (row: string, by: string) =>
    `update projects set open_issues_count = open_issues_count ${by} where id = ${row}.project_id;`
  if (isSqlite(db)) {
    const trigger = (name: string, event: string, when: string, body: string) =>
      run(`create trigger open_issues_${name} after ${event} on issues when ${when} begin ${body} end`)
    await trigger('i', 'insert', counts('new'), add('new', '+ 1'))
    await trigger('d', 'delete', counts('old'), add('old', '- 1'))
    const [before, after] = [`(${counts('old')})`, `(${counts('new')})`]
    await trigger('on', 'update of state, confidential', `${after} and not ${before}`, add('new', '+ 1'))
    await trigger('off', 'update of state, confidential', `${before} and not ${after}`, add('old', '- 1'))
    return
  }
  await run(`create function open_issues() returns trigger language plpgsql as $$ begin
    if tg_op <> 'INSERT' and ${counts('old')} and not (tg_op = 'UPDATE' and ${counts('new')}) then ${add('old', '- 1')} end if;
    if tg_op <> 'DELETE' and ${counts('new')} and not (tg_op = 'UPDATE' and ${counts('old')}) then ${add('new', '+ 1')} end if;
    return null;
  end $$`)
  await run(`create trigger open_issues after insert or delete or update of state, confidential on issues
    for each row execute function open_issues()`)
}
