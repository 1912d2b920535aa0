import { sql, type Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'

/**
 * A transaction that changes a milestone's date or a label's priority no longer locks the milestone or label against
 * transactions that assign it. The latter lock the issue first, and the two could deadlock. Issues are locked by id,
 * then merge requests by id. A job finds concurrent assignments later (`planning/settling.ts`) and calls the same
 * functions.
 */
export async function up(db: Kysely<never>): Promise<void> {
  if (isSqlite(db)) return
  const run = (text: string) => sql.raw(text).execute(db)
  const define = (what: string, body: string) =>
    run(`create or replace function ${what} language plpgsql as $$ begin ${body} end $$`)

  await define(
    'settle_milestone_due(milestone bigint) returns void',
    `perform 1 from issues where milestone_id = milestone order by id for no key update;
    update issues set milestone_due = m.due_date from milestones m
      where m.id = milestone and issues.milestone_id = milestone and milestone_due is distinct from m.due_date;`,
  )
  // A weak lock: a transaction that changes the date continues, and the job that settles it waits for this one.
  await define(
    'issues_milestone_due() returns trigger',
    `if new.milestone_id is null then new.milestone_due := null;
    elsif tg_op = 'INSERT' or new.milestone_id is distinct from old.milestone_id then
      select due_date into new.milestone_due from milestones where id = new.milestone_id for key share;
    end if;
    return new;`,
  )
  await define(
    'issues_milestone_due_m() returns trigger',
    `if new.due_date is distinct from old.due_date then perform settle_milestone_due(new.id); end if;
    return null;`,
  )

  await define(
    'settle_label_priority(label bigint, project bigint) returns void',
    `${settle('issues', 'issue')} ${settle('merge_requests', 'merge_request')}`,
  )
  await run('drop trigger merge_requests_label_priority_q on label_priorities')
  await run('drop function merge_requests_label_priority_q()')
  await define(
    'issues_label_priority_q() returns trigger',
    `if tg_op = 'DELETE' then perform settle_label_priority(old.label_id, old.project_id);
    else perform settle_label_priority(new.label_id, new.project_id); end if;
    return null;`,
  )
}

const settle = (table: string, one: string) => `
  perform 1 from ${table} where project_id = project
    and id in (select ${one}_id from ${one}_labels where label_id = label) order by id for no key update;
  update ${table} set label_priority = (select min(q.priority) from ${one}_labels l
      join label_priorities q on q.label_id = l.label_id and q.project_id = ${table}.project_id
      where l.${one}_id = ${table}.id)
    where project_id = project and id in (select ${one}_id from ${one}_labels where label_id = label);`
