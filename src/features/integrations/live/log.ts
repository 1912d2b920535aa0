/** The event log in commit order, as live connections read it. */
import { sql } from 'kysely'
import type { Db, Row } from '../../../store/database.ts'

export type LoggedEvent = Pick<Row<'events'>, 'name' | 'payload' | 'project_id' | 'group_id' | 'created_at'> & {
  readonly position: number
}

export const PAGE = 200

interface Range {
  readonly after: number
  readonly until?: number
  readonly project?: number | undefined
}

export async function eventsAfter(db: Db, { after, until, project }: Range): Promise<LoggedEvent[]> {
  const rows = await db
    .selectFrom('events')
    .select(['name', 'payload', 'project_id', 'group_id', 'created_at', 'position'])
    .where('position', '>', after)
    .$if(until !== undefined, (query) => query.where('position', '<=', until!))
    .$if(project !== undefined, (query) => query.where('project_id', '=', project!))
    .orderBy('position')
    .limit(PAGE)
    .execute()
  return rows.map((row) => ({ ...row, position: Number(row.position) }))
}

export async function lastPosition(db: Db): Promise<number> {
  return Number((await db.selectFrom('event_positions').select('last').executeTakeFirstOrThrow()).last)
}

/** The oldest position still in the log. Null if the log is empty. */
export async function oldestPosition(db: Db): Promise<number | null> {
  const { oldest } = await db
    .selectFrom('events')
    .select(sql<number | null>`min(position)`.as('oldest'))
    .where('position', 'is not', null)
    .executeTakeFirstOrThrow()
  return oldest === null ? null : Number(oldest)
}
