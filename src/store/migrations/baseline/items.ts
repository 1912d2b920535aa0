/** What issues and merge requests have in common: sort orders, and columns that triggers maintain. */
import type { Kysely } from 'kysely'
import { isSqlite } from '../helpers/columns.ts'
import { postgresTrigger, sqliteTrigger } from '../helpers/triggers.ts'

export type Items = 'issues' | 'merge_requests'

const singular = (items: Items) => (items === 'issues' ? 'issue' : 'merge_request')

/** Two indexes for each order of a list: for the items of one project, and for all items. */
export const orders = (items: Items, expressions: Record<string, string>): string =>
  Object.entries(expressions)
    .map(([name, order]) => {
      const inProject = `create index ${items}_project_${name} on ${items} (project_id, ${order}, id);`
      return `${inProject}\ncreate index ${items}_${name} on ${items} (${order}, id);`
    })
    .join('\n')

/** `label_priority`: the highest priority (the lowest number) of the labels in the project. */
export async function keepLabelPriority(db: Kysely<never>, items: Items): Promise<void> {
  const [one, l] = [singular(items), `${items[0]}l`]
  const update = (
    where: string,
  ) => `update ${items} set label_priority = (select min(q.priority) from ${one}_labels ${l}
    join label_priorities q on q.label_id = ${l}.label_id and q.project_id = ${items}.project_id
    where ${l}.${one}_id = ${items}.id) where ${where};`
  const linked = update(`id = new.${one}_id and exists (select 1 from label_priorities where label_id = new.label_id)`)
  // When a label is deleted, its priorities may be deleted already.
  const unlinked = update(`id = old.${one}_id and label_priority is not null`)
  const name = `${items}_label_priority`
  if (!isSqlite(db)) {
    const body = `if tg_op = 'INSERT' then ${linked} else ${unlinked} end if; return null;`
    return postgresTrigger(db, name, `after insert or delete on ${one}_labels`, body)
  }
  const ofLabel = (row: string) =>
    update(`project_id = ${row}.project_id
      and id in (select ${one}_id from ${one}_labels where label_id = ${row}.label_id)`)
  await sqliteTrigger(db, `${name}_i`, `after insert on ${one}_labels`, linked)
  await sqliteTrigger(db, `${name}_d`, `after delete on ${one}_labels`, unlinked)
  await sqliteTrigger(db, `${name}_qi`, 'after insert on label_priorities', ofLabel('new'))
  await sqliteTrigger(db, `${name}_qu`, 'after update on label_priorities', ofLabel('new'))
  await sqliteTrigger(db, `${name}_qd`, 'after delete on label_priorities', ofLabel('old'))
}

/** `since` of a link to a user: the creation date of the item, so that a user's work is read in that order. */
export async function keepSince(db: Kysely<never>, links: string, items: Items): Promise<void> {
  const key = `${singular(items)}_id`
  const since = `(select created_at from ${items} where id = new.${key})`
  const isOther = 'new.created_at <> old.created_at'
  const moved = `update ${links} set since = new.created_at where ${key} = new.id;`
  if (isSqlite(db)) {
    const set = `update ${links} set since = ${since} where ${key} = new.${key} and user_id = new.user_id;`
    await sqliteTrigger(db, `${links}_since_i`, `after insert on ${links}`, set)
    await sqliteTrigger(db, `${links}_since_u`, `after update of created_at on ${items} when ${isOther}`, moved)
    return
  }
  await postgresTrigger(db, `${links}_since`, `before insert on ${links}`, `new.since := ${since}; return new;`)
  const event = `after update of created_at on ${items}`
  await postgresTrigger(db, `${links}_since_moved`, event, `${moved} return null;`, isOther)
}

/** A column of the items: the number of their rows in another table. `when` is a condition on these rows. */
export async function keepCount(
  db: Kysely<never>,
  items: Items,
  { name, of, column, when }: { name: string; of: string; column: string; when: (row: string) => string },
): Promise<void> {
  const key = `${singular(items)}_id`
  const isCounted = (row: string) => `${row}.${key} is not null and ${when(row)}`
  const add = (row: string, by: string) => `update ${items} set ${column} = ${column} ${by} where id = ${row}.${key};`
  if (isSqlite(db)) {
    await sqliteTrigger(db, `${name}_i`, `after insert on ${of} when ${isCounted('new')}`, add('new', '+ 1'))
    await sqliteTrigger(db, `${name}_d`, `after delete on ${of} when ${isCounted('old')}`, add('old', '- 1'))
    return
  }
  const body = `if tg_op = 'INSERT' then
      if ${isCounted('new')} then ${add('new', '+ 1')} end if;
    elsif ${isCounted('old')} then ${add('old', '- 1')} end if;
    return null;`
  await postgresTrigger(db, name, `after insert or delete on ${of}`, body)
}
