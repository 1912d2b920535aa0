import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * The number of issues of each kind per label and project, for lists of labels. Maintained by triggers and merged like
 * other facets (`counts.ts`). Other facets count one table; these count links and their issues.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref, boolean } = columnTypes(db)
  const kind = ['label_id', 'project_id', 'state', 'confidential']
  let creation = db.schema
    .createTable('issue_labels_facets')
    .addColumn('total', ref, (c) => c.notNull())
    .addColumn('label_id', ref, (c) => c.notNull())
    .addColumn('project_id', ref, (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('confidential', boolean, (c) => c.notNull())
  if (isSqlite(db)) creation = creation.addPrimaryKeyConstraint('issue_labels_facets_unique', kind as never[])
  await creation.execute()
  await sql`insert into issue_labels_facets (label_id, project_id, state, confidential, total)
    select l.label_id, i.project_id, i.state, i.confidential, count(*)
    from issue_labels l join issues i on i.id = l.issue_id
    group by l.label_id, i.project_id, i.state, i.confidential`.execute(db)
  await db.schema.createIndex('issue_labels_facets_project').on('issue_labels_facets').column('project_id').execute()
  await (isSqlite(db) ? keepOnSqlite : keepOnPostgres)(db)
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
const IS_OTHER = 'when (old.state <> new.state or old.confidential <> new.confidential)'
const forget = (column: string) => `delete from issue_labels_facets where ${column} = old.id;`

async function keepOnSqlite(db: Kysely<never>): Promise<void> {
  const or = ' on conflict (label_id, project_id, state, confidential) do update set total = total + excluded.total;'
  const trigger = (name: string, when: string, body: string) =>
    sql.raw(`create trigger issue_labels_facets_${name} ${when} begin ${body} end`).execute(db)
  await trigger('i', 'after insert on issue_labels', ofLink('new', 1) + or)
  await trigger('d', 'after delete on issue_labels', ofLink('old', -1) + or)
  const moved = ofIssue('old', -1) + or + ofIssue('new', 1) + or
  await trigger('u', `after update of state, confidential on issues ${IS_OTHER}`, moved)
  await trigger('gone', 'before delete on issues', ofIssue('old', -1) + or)
  await trigger('label', 'after delete on labels', forget('label_id'))
  await trigger('project', 'after delete on projects', forget('project_id'))
}

async function keepOnPostgres(db: Kysely<never>): Promise<void> {
  const trigger = async (name: string, event: string, body: string, when = '') => {
    const called = `issue_labels_facets_${name}`
    await sql.raw(`create function ${called}() returns trigger language plpgsql as $$ begin ${body} end $$`).execute(db)
    await sql.raw(`create trigger ${called} ${event} for each row ${when} execute function ${called}()`).execute(db)
  }
  // Locked, so that the issue cannot change its state concurrently without counting the link.
  const held = 'for no key update of i'
  await trigger('i', 'after insert on issue_labels', `${ofLink('new', 1)} ${held}; return null;`)
  await trigger('d', 'after delete on issue_labels', `${ofLink('old', -1)} ${held}; return null;`)
  const moved = `${ofIssue('old', -1)}; ${ofIssue('new', 1)}; return null;`
  await trigger('u', 'after update of state, confidential on issues', moved, IS_OTHER)
  await trigger('gone', 'before delete on issues', `${ofIssue('old', -1)}; return old;`)
  await trigger('label', 'after delete on labels', `${forget('label_id')} return null;`)
  await trigger('project', 'after delete on projects', `${forget('project_id')} return null;`)
  await sql`create index issue_labels_facets_label on issue_labels_facets (label_id, project_id)`.execute(db)
}
