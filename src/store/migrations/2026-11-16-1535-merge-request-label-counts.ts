import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../dialect.ts'

/** How many merge requests of each state have a label, by project, as issues are counted (`label-counts.ts`). */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  const kind = ['label_id', 'project_id', 'state']
  let creation = db.schema
    .createTable('merge_request_labels_facets')
    .addColumn('total', ref, (c) => c.notNull())
    .addColumn('label_id', ref, (c) => c.notNull())
    .addColumn('project_id', ref, (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
  if (isSqlite(db)) creation = creation.addPrimaryKeyConstraint('merge_request_labels_facets_unique', kind as never[])
  await creation.execute()
  await sql
    .raw(
      `${INTO} select l.label_id, m.project_id, m.state, count(*)
        from merge_request_labels l join merge_requests m on m.id = l.merge_request_id group by 1, 2, 3`,
    )
    .execute(db)
  await sql`create index merge_request_labels_facets_project on merge_request_labels_facets (project_id)`.execute(db)
  await (isSqlite(db) ? keepOnSqlite : keepOnPostgres)(db)
}

const INTO = 'insert into merge_request_labels_facets (label_id, project_id, state, total)'
/** One link, of a merge request and a label that are there: with either of them goes all that was counted. */
const ofLink = (link: string, by: number) =>
  `${INTO} select ${link}.label_id, m.project_id, m.state, ${by} from merge_requests m
    where m.id = ${link}.merge_request_id and exists (select 1 from labels where id = ${link}.label_id)`
/** All links of one merge request. */
const ofRequest = (one: string, by: number) =>
  `${INTO} select l.label_id, ${one}.project_id, ${one}.state, ${by}
    from merge_request_labels l where l.merge_request_id = ${one}.id`
const IS_OTHER = 'when (old.state <> new.state)'
const forget = (column: string) => `delete from merge_request_labels_facets where ${column} = old.id;`

async function keepOnSqlite(db: Kysely<never>): Promise<void> {
  const or = ' on conflict (label_id, project_id, state) do update set total = total + excluded.total;'
  const trigger = (name: string, when: string, body: string) =>
    sql.raw(`create trigger merge_request_labels_facets_${name} ${when} begin ${body} end`).execute(db)
  await trigger('i', 'after insert on merge_request_labels', ofLink('new', 1) + or)
  await trigger('d', 'after delete on merge_request_labels', ofLink('old', -1) + or)
  const moved = ofRequest('old', -1) + or + ofRequest('new', 1) + or
  await trigger('u', `after update of state on merge_requests ${IS_OTHER}`, moved)
  await trigger('gone', 'before delete on merge_requests', ofRequest('old', -1) + or)
  await trigger('label', 'after delete on labels', forget('label_id'))
  await trigger('project', 'after delete on projects', forget('project_id'))
}

async function keepOnPostgres(db: Kysely<never>): Promise<void> {
  const trigger = async (name: string, event: string, body: string, when = '') => {
    const called = `merge_request_labels_facets_${name}`
    await sql.raw(`create function ${called}() returns trigger language plpgsql as $$ begin ${body} end $$`).execute(db)
    await sql.raw(`create trigger ${called} ${event} for each row ${when} execute function ${called}()`).execute(db)
  }
  // Held, so that it does not change its state beside us without seeing the link.
  const held = 'for no key update of m'
  await trigger('i', 'after insert on merge_request_labels', `${ofLink('new', 1)} ${held}; return null;`)
  await trigger('d', 'after delete on merge_request_labels', `${ofLink('old', -1)} ${held}; return null;`)
  const moved = `${ofRequest('old', -1)}; ${ofRequest('new', 1)}; return null;`
  await trigger('u', 'after update of state on merge_requests', moved, IS_OTHER)
  await trigger('gone', 'before delete on merge_requests', `${ofRequest('old', -1)}; return old;`)
  await trigger('label', 'after delete on labels', `${forget('label_id')} return null;`)
  await trigger('project', 'after delete on projects', `${forget('project_id')} return null;`)
  await sql`create index merge_request_labels_facets_label
    on merge_request_labels_facets (label_id, project_id)`.execute(db)
}
