import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * Counts of merge requests for other records, and a sort column, maintained by triggers: open merge requests per label
 * and project, merge requests that would close an issue, and the highest priority (the lowest number) of the labels.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  let facets = db.schema
    .createTable('merge_request_labels_facets')
    .addColumn('total', ref, (c) => c.notNull())
    .addColumn('label_id', ref, (c) => c.notNull())
    .addColumn('project_id', ref, (c) => c.notNull())
  if (isSqlite(db))
    facets = facets.addPrimaryKeyConstraint('merge_request_labels_facets_unique', ['label_id', 'project_id'] as never[])
  await facets.execute()
  const index = (name: string, on: string) => sql.raw(`create index ${name} on ${on}`).execute(db)
  await index('merge_request_labels_facets_project', 'merge_request_labels_facets (project_id)')
  if (!isSqlite(db))
    await index('merge_request_labels_facets_label', 'merge_request_labels_facets (label_id, project_id)')
  await sql
    .raw(`${INTO} select l.label_id, m.project_id, count(*) from merge_request_labels l
    join merge_requests m on m.id = l.merge_request_id where ${isOpen('m')} group by l.label_id, m.project_id`)
    .execute(db)

  await db.schema
    .alterTable('issues')
    .addColumn('merge_requests_count', 'integer', (c) => c.notNull().defaultTo(0))
    .execute()
  await sql`update issues set merge_requests_count =
      (select count(*) from merge_request_closes c where c.issue_id = issues.id)
    where id in (select issue_id from merge_request_closes)`.execute(db)

  await db.schema.alterTable('merge_requests').addColumn('label_priority', 'integer').execute()
  await sql
    .raw(`update merge_requests set label_priority = ${PRIORITY}
      where id in (select merge_request_id from merge_request_labels)`)
    .execute(db)
  // Without a priority, rows come last in either direction.
  for (const [way, none] of [
    ['', '2147483647'],
    ['_desc', '-2147483648'],
  ] as const) {
    const order = `(coalesce(label_priority, ${none})), id`
    await index(`merge_requests_project_label_priority${way}`, `merge_requests (project_id, ${order})`)
    await index(`merge_requests_label_priority${way}`, `merge_requests (${order})`)
  }
  await (isSqlite(db) ? keepOnSqlite : keepOnPostgres)(db)
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

const PRIORITY = `(select min(q.priority) from merge_request_labels ml
  join label_priorities q on q.label_id = ml.label_id and q.project_id = merge_requests.project_id
  where ml.merge_request_id = merge_requests.id)`
const prioritize = (where: string) => `update merge_requests set label_priority = ${PRIORITY} where ${where};`
const LINKED = prioritize(`id = new.merge_request_id
  and exists (select 1 from label_priorities where label_id = new.label_id)`)
// When a label is deleted, its priorities may be deleted already.
const UNLINKED = prioritize('id = old.merge_request_id and label_priority is not null')
const ofLabel = (row: string) =>
  prioritize(`project_id = ${row}.project_id
    and id in (select merge_request_id from merge_request_labels where label_id = ${row}.label_id)`)

const closing = (row: string, by: string) =>
  `update issues set merge_requests_count = merge_requests_count ${by} where id = ${row}.issue_id;`

async function keepOnSqlite(db: Kysely<never>): Promise<void> {
  const or = ' on conflict (label_id, project_id) do update set total = total + excluded.total;'
  const trigger = (name: string, when: string, body: string) =>
    sql.raw(`create trigger ${name} ${when} begin ${body} end`).execute(db)
  const facets = 'merge_request_labels_facets'
  await trigger(`${facets}_i`, 'after insert on merge_request_labels', ofLink('new', 1) + or)
  await trigger(`${facets}_d`, 'after delete on merge_request_labels', ofLink('old', -1) + or)
  const moved = ofOne('old', -1) + or + ofOne('new', 1) + or
  await trigger(`${facets}_u`, 'after update of state on merge_requests when old.state <> new.state', moved)
  await trigger(`${facets}_gone`, 'before delete on merge_requests', ofOne('old', -1) + or)
  await trigger(`${facets}_label`, 'after delete on labels', forget('label_id'))
  await trigger(`${facets}_project`, 'after delete on projects', forget('project_id'))

  await trigger('issues_merge_requests_count_i', 'after insert on merge_request_closes', closing('new', '+ 1'))
  await trigger('issues_merge_requests_count_d', 'after delete on merge_request_closes', closing('old', '- 1'))

  const priority = 'merge_requests_label_priority'
  await trigger(`${priority}_i`, 'after insert on merge_request_labels', LINKED)
  await trigger(`${priority}_d`, 'after delete on merge_request_labels', UNLINKED)
  await trigger(`${priority}_qi`, 'after insert on label_priorities', ofLabel('new'))
  await trigger(`${priority}_qu`, 'after update on label_priorities', ofLabel('new'))
  await trigger(`${priority}_qd`, 'after delete on label_priorities', ofLabel('old'))
}

async function keepOnPostgres(db: Kysely<never>): Promise<void> {
  const trigger = async (name: string, event: string, body: string, when = '') => {
    await sql.raw(`create function ${name}() returns trigger language plpgsql as $$ begin ${body} end $$`).execute(db)
    await sql.raw(`create trigger ${name} ${event} for each row ${when} execute function ${name}()`).execute(db)
  }
  const facets = 'merge_request_labels_facets'
  // Locked, so that the merge request cannot change its state concurrently without counting the link.
  const held = 'for no key update of m'
  await trigger(`${facets}_i`, 'after insert on merge_request_labels', `${ofLink('new', 1)} ${held}; return null;`)
  await trigger(`${facets}_d`, 'after delete on merge_request_labels', `${ofLink('old', -1)} ${held}; return null;`)
  const moved = `${ofOne('old', -1)}; ${ofOne('new', 1)}; return null;`
  await trigger(`${facets}_u`, 'after update of state on merge_requests', moved, 'when (old.state <> new.state)')
  await trigger(`${facets}_gone`, 'before delete on merge_requests', `${ofOne('old', -1)}; return old;`)
  await trigger(`${facets}_label`, 'after delete on labels', `${forget('label_id')} return null;`)
  await trigger(`${facets}_project`, 'after delete on projects', `${forget('project_id')} return null;`)

  await trigger(
    'issues_merge_requests_count',
    'after insert or delete on merge_request_closes',
    `if tg_op = 'INSERT' then ${closing('new', '+ 1')} else ${closing('old', '- 1')} end if; return null;`,
  )

  await trigger(
    'merge_requests_label_priority',
    'after insert or delete on merge_request_labels',
    `if tg_op = 'INSERT' then ${LINKED} else ${UNLINKED} end if; return null;`,
  )
  // A concurrent transaction that adds the label locks it too: this one waits for it, or it sees the new priority.
  await trigger(
    'merge_requests_label_priority_q',
    'after insert or update or delete on label_priorities',
    `if tg_op = 'DELETE' then ${ofLabel('old')}
    else perform 1 from labels where id = new.label_id for update; ${ofLabel('new')} end if;
    return null;`,
  )
}
