/** Another process at the data of a server: it commits, and sees what the engine itself is busy with. */
import { sql } from 'kysely'
import { openStore } from '../src/store/open.ts'
import { processorTime, type OurServer } from './servers.ts'

export interface Beside extends AsyncDisposable {
  /** Changes what one record shows: a project or a user, in turns. */
  commit(): Promise<void>
  /** Milliseconds that the engine's own processes have had a processor; 0 where it lives in ours. */
  engineTime(): Promise<number>
}

export interface Records {
  readonly projects: readonly number[]
  readonly users: readonly number[]
}

export async function openBeside({ databaseUrl }: OurServer, { projects, users }: Records): Promise<Beside> {
  const store = await openStore(databaseUrl, { durable: false, shared: true, poolSize: 1 })
  let commits = 0
  /** By process; one that ended keeps what it had. */
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
    async engineTime() {
      if (store.engine === 'sqlite') return 0
      const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`.execute(store.db)
      for (const { pid } of rows) {
        const time = await processorTime(pid).catch(() => null) // it ended just now
        if (time !== null) times.set(pid, time)
      }
      return [...times.values()].reduce((sum, one) => sum + one, 0)
    },
    [Symbol.asyncDispose]: () => store.close(),
  }
}
