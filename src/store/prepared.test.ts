/** Statements are prepared on each connection of PostgreSQL: planned once, and as many as the server can keep. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { testDatabaseUrl } from '../config.ts'
import { postgresDatabase } from './temporary.ts'
import { openPostgres } from './postgres.ts'

const server = testDatabaseUrl()
const MOST = 1000

test.runIf(server !== undefined)('a connection keeps the statements that were used last', async () => {
  const database = await postgresDatabase(server!)
  const store = openPostgres(database.url, { poolSize: 1 })
  try {
    const use = (n: number) => sql`select ${n}::int as ${sql.ref(`c${n}`)}`.execute(store.db)
    const prepared = async () => {
      const { rows } = await sql<{ statement: string }>`select statement from pg_prepared_statements`.execute(store.db)
      return rows.map(({ statement }) => Number(/"c(\d+)"/.exec(statement)?.[1]))
    }
    for (let n = 0; n < MOST; n++) await use(n)
    expect(await prepared()).toHaveLength(MOST)
    await use(0)
    for (let n = MOST; n < MOST + 50; n++) await use(n)
    const kept = await prepared()
    expect(kept).toHaveLength(MOST)
    expect(kept.toSorted((a, b) => a - b)).toEqual([0, ...Array.from({ length: MOST - 1 }, (_, n) => n + 51)])

    // A statement that was forgotten, and one that the server rejects, inside a transaction.
    await store.db.transaction().execute(async (db) => {
      expect((await sql`select ${1}::int as c1`.execute(db)).rows).toEqual([{ c1: 1 }])
      for (let n = 2; n < 50; n++) await sql`select ${n}::int as ${sql.ref(`c${n}`)}`.execute(db)
    })
    await expect(sql`select ${1}::int from nowhere`.execute(store.db)).rejects.toThrow('"nowhere" does not exist')
    for (let n = 0; n < MOST + 50; n++) await use(n)
    expect(await prepared()).toHaveLength(MOST)
  } finally {
    await store.close()
    await database.drop()
  }
})
