import { sql, type Kysely } from 'kysely'
import { columnTypes, isSqlite } from '../helpers/columns.ts'

/**
 * Sort columns of issues whose values are in other tables, maintained by triggers: the due date of the milestone, and
 * the highest priority (the lowest number) of the labels.
 */
export async function up(db: Kysely<never>): Promise<void> {
  const { date } = columnTypes(db)
  await db.schema.alterTable('issues').addColumn('milestone_due', date).execute()
  await db.schema.alterTable('issues').addColumn('label_priority', 'integer').execute()
  await sql`update issues set milestone_due = (select due_date from milestones m where m.id = issues.milestone_id)
    where milestone_id is not null`.execute(db)
  await sql
    .raw(`update issues set label_priority = ${priorityOf('issues')} where id in (select issue_id from issue_labels)`)
    .execute(db)
  await (isSqlite(db) ? keepOnSqlite : keepOnPostgres)(db)

  const none = isSqlite(db)
    ? { asc: `'9999-12-31'`, desc: `'0000-01-01'` }
    : { asc: `'infinity'::date`, desc: `'-infinity'::date` }
  // Without a value, rows come last in either direction.
  for (const [way, date, number] of [
    ['', none.asc, '2147483647'],
    ['_desc', none.desc, '-2147483648'],
  ] as const) {
    const orders = {
      milestone_due: `(coalesce(milestone_due, ${date}))`,
      label_priority: `(coalesce(label_priority, ${number}))`,
      priority: `(coalesce(milestone_due, ${date})), (coalesce(label_priority, ${number}))`,
      weight: `(coalesce(weight, ${number}))`,
    }
    for (const [name, order] of Object.entries(orders)) {
      await sql.raw(`create index issues_project_${name}${way} on issues (project_id, ${order}, id)`).execute(db)
      await sql.raw(`create index issues_${name}${way} on issues (${order}, id)`).execute(db)
    }
  }
  // The columns that most lists test, so that the default order is read from the index alone.
  const tested = 'confidential, author_id'
  for (const [name, columns] of Object.entries({
    issues_project_created_at: `project_id, created_at, id, state, ${tested}`,
    issues_project_state: `project_id, state, created_at, id, ${tested}`,
  })) {
    await sql.raw(`drop index ${name}`).execute(db)
    await sql.raw(`create index ${name} on issues (${columns})`).execute(db)
  }
  // Issues whose creation date is after their last change: very few.
  for (const columns of ['project_id, created_at', 'created_at']) {
    const name = `issues_odd_${columns.split(',', 1)}`
    await sql.raw(`create index ${name} on issues (${columns}) where updated_at < created_at`).execute(db)
  }
}

const priorityOf = (issue: string) => `(select min(q.priority) from issue_labels il
  join label_priorities q on q.label_id = il.label_id and q.project_id = ${issue}.project_id
  where il.issue_id = ${issue}.id)`

const ofIssue = (link: string, when: string) =>
  `update issues set label_priority = ${priorityOf('issues')} where id = ${link}.issue_id and ${when};`
const LINKED = ofIssue('new', 'exists (select 1 from label_priorities where label_id = new.label_id)')
// When a label is deleted, its priorities may be deleted already.
const UNLINKED = ofIssue('old', 'label_priority is not null')
const ofLabel = (row: string) => `update issues set label_priority = ${priorityOf('issues')}
  where project_id = ${row}.project_id and id in (select issue_id from issue_labels where label_id = ${row}.label_id);`

async function keepOnSqlite(db: Kysely<never>): Promise<void> {
  const trigger = (name: string, when: string, body: string) =>
    sql.raw(`create trigger issues_${name} after ${when} begin ${body} end`).execute(db)
  const due = `update issues set milestone_due = (select due_date from milestones where id = new.milestone_id)
    where id = new.id;`
  await trigger('milestone_due_i', 'insert on issues when new.milestone_id is not null', due)
  await trigger('milestone_due_u', 'update of milestone_id on issues', due)
  await trigger(
    'milestone_due_m',
    'update of due_date on milestones when new.due_date is not old.due_date',
    'update issues set milestone_due = new.due_date where milestone_id = new.id;',
  )
  await trigger('label_priority_i', 'insert on issue_labels', LINKED)
  await trigger('label_priority_d', 'delete on issue_labels', UNLINKED)
  await trigger('label_priority_qi', 'insert on label_priorities', ofLabel('new'))
  await trigger('label_priority_qu', 'update on label_priorities', ofLabel('new'))
  await trigger('label_priority_qd', 'delete on label_priorities', ofLabel('old'))
}

async function keepOnPostgres(db: Kysely<never>): Promise<void> {
  const trigger = async (name: string, event: string, body: string) => {
    await sql
      .raw(`create function issues_${name}() returns trigger language plpgsql as $$ begin ${body} end $$`)
      .execute(db)
    await sql.raw(`create trigger issues_${name} ${event} for each row execute function issues_${name}()`).execute(db)
  }
  // The milestone is locked, so that its date cannot change concurrently without updating the issue.
  await trigger(
    'milestone_due',
    'before insert or update of milestone_id on issues',
    `if new.milestone_id is null then new.milestone_due := null;
    elsif tg_op = 'INSERT' or new.milestone_id is distinct from old.milestone_id then
      select due_date into new.milestone_due from milestones where id = new.milestone_id for share;
    end if;
    return new;`,
  )
  await trigger(
    'milestone_due_m',
    'after update of due_date on milestones',
    `if new.due_date is distinct from old.due_date then
      update issues set milestone_due = new.due_date where milestone_id = new.id;
    end if;
    return null;`,
  )
  await trigger(
    'label_priority',
    'after insert or delete on issue_labels',
    `if tg_op = 'INSERT' then ${LINKED} else ${UNLINKED} end if; return null;`,
  )
  // A concurrent transaction that adds the label locks it too: this one waits for it, or it sees the new priority.
  await trigger(
    'label_priority_q',
    'after insert or update or delete on label_priorities',
    `if tg_op = 'DELETE' then ${ofLabel('old')}
    else perform 1 from labels where id = new.label_id for update; ${ofLabel('new')} end if;
    return null;`,
  )
}
