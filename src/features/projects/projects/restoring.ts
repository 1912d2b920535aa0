/** What other rows say about projects that came back from a backup. */
import { sql } from 'kysely'
import type { TransactionApp } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'

/** Forks of a deleted project are unlinked from it, and some stars may be left out. */
export async function recountRestored({ db }: TransactionApp, ids: readonly number[]): Promise<void> {
  const list = idList(db, ids)
  const isRestored = (column: string) => inIdList(db, column, list)
  await sql`update projects set star_count = (select count(*) from stars s where s.project_id = projects.id),
    forks_count = (select count(*) from projects f where f.forked_from_id = projects.id)
    where ${isRestored('id')}`.execute(db)
  await sql`update projects set forks_count = forks_count +
      (select count(*) from projects f where f.forked_from_id = projects.id and ${isRestored('f.id')})
    where not ${isRestored('id')}
      and id in (select forked_from_id from projects where ${isRestored('id')})`.execute(db)
}
