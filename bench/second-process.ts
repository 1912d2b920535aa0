/** Another process on the data of a server: it commits changes, and measures the work of the database itself. */
import { sql, type RawBuilder } from 'kysely'
import { openStore } from '../src/store/open.ts'
import { CROWDED } from './seed-issues.ts'
import { processorTime, type OurServer } from './servers.ts'

export interface SecondProcess extends AsyncDisposable {
  /** Changes a visible field of one record: a project or a user, alternately. */
  commit(): Promise<void>
  /** Changes a record of every kind that planning lists in a project. */
  plan(): Promise<void>
  /** Milliseconds of CPU time of the database's own processes; 0 if it runs inside ours. */
  engineTime(): Promise<number>
}

export interface Records {
  readonly projects: readonly number[]
  readonly users: readonly number[]
}

export async function openSecondProcess(
  { databaseUrl }: OurServer,
  { projects, users }: Records,
): Promise<SecondProcess> {
  const store = await openStore(databaseUrl, { durable: false, shared: true, poolSize: 1 })
  let commits = 0
  /** By process; an ended process keeps its last value. */
  const times = new Map<number, number>()
  const change = (table: string, column: string, ids: readonly number[], n: number) =>
    sql`update ${sql.table(table)} set ${sql.ref(column)} = ${`Change ${n}`} where id = ${ids[n % ids.length]!}`
  return {
    async commit() {
      const n = commits++
      const one = n >> 1
      await (n % 2 ? change('users', 'bio', users, one) : change('projects', 'description', projects, one)).execute(
        store.db,
      )
    },
    async plan() {
      await store.db.transaction().execute(async (db) => {
        for (const statement of plannedChanges(commits++)) await statement.execute(db)
      })
    },
    async engineTime() {
      if (store.engine === 'sqlite') return 0
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(store.db)
      for (const { pid } of rows) {
        const time = await processorTime(pid).catch(() => null) // it has just ended
        if (time !== null) times.set(pid, time)
      }
      return [...times.values()].reduce((sum, one) => sum + one, 0)
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}

/** A note, an event and an update of each other table, which count as changes whatever they alter. */
function plannedChanges(n: number): RawBuilder<unknown>[] {
  const now = new Date().toISOString()
  const issue = 12
  return [
    sql`insert into notes (project_id, issue_id, discussion_id, author_id, body, created_at, updated_at)
      values (${CROWDED}, ${issue}, ${String(n).padStart(40, '0')}, 5, 'Well', ${now}, ${now})`,
    sql`insert into activities (project_id, author_id, kind, issue_id, created_at)
      values (${CROWDED}, 5, 'issue.created', ${issue}, ${now})`,
    sql`update issues set state = case state when 'opened' then 'closed' else 'opened' end where id = ${issue}`,
    sql`update issue_labels set label_id = label_id where issue_id = ${issue}`,
    sql`update milestones set description = description where id = 3`,
    sql`update snippets set title = title where id = 3`,
    sql`update todos set state = state where id = 3`,
  ]
}
