/** Takes migrations back, so that an earlier version can start on the database again. */
import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { CannotStart } from '../config.ts'
import type { Db, Store } from './database.ts'
import { BASELINE, listMigrations, MIGRATIONS, RELEASED } from './history.ts'
import { lockMigrations } from './migrate.ts'

/** A migration after the baseline. */
export interface ReversibleMigration extends Required<Migration> {
  /** What its way back loses. */
  readonly lost?: string
  /** The release since which no version needs what `up` removes or demands. Without it, `up` only adds. */
  readonly contracts?: string
}

/** One migration to take back. */
export interface Step {
  readonly name: string
  readonly lost: string | null
}

/**
 * What would be taken back, the last one first: `first` and everything applied after it; null: everything that the
 * newest release does not have.
 */
export async function stepsBack({ db }: Pick<Store, 'db'>, first: string | null, folder = MIGRATIONS): Promise<Step[]> {
  const applied = await inOrder(db)
  const known = await listMigrations(applied, folder)
  const newer = applied.find((name) => !known.has(name))
  if (newer !== undefined)
    throw new CannotStart(`a newer version of Mortise has applied ${newer}, and only that version can take it back`)
  if (first !== null && !applied.includes(first)) throw new CannotStart(`the database has no migration ${first}`)
  // Without those from before the baseline.
  const listed = [...(await listMigrations([], folder)).keys()]
  const since = first === null ? listed.slice(listed.indexOf(RELEASED) + 1) : applied.slice(applied.indexOf(first))
  const names = applied.filter((name) => since.includes(name)).toReversed()
  return Promise.all(
    names.map(async (name) => {
      const { down, lost = null } = await load(listed.includes(name) ? known.get(name) : null)
      if (!down || name === BASELINE) throw new CannotStart(`${name} cannot be taken back`)
      return { name, lost }
    }),
  )
}

/** All in one transaction. Throws if the steps are not the last ones any more. */
export async function takeBack({ db }: Pick<Store, 'db'>, steps: readonly Step[], folder = MIGRATIONS): Promise<void> {
  await db.transaction().execute(async (db) => {
    await lockMigrations(db)
    const known = await listMigrations([], folder)
    const applied = await inOrder(db)
    if (steps.some(({ name }) => !applied.includes(name)))
      throw new CannotStart('another process has changed the database in the meantime')
    for (const { name } of steps) {
      const { down } = await load(known.get(name))
      try {
        await down!(db as Db)
      } catch (cause) {
        throw new CannotStart(`${name} cannot be taken back: ${(cause as Error).message}`, { cause })
      }
      await sql`delete from ${HISTORY} where name = ${name}`.execute(db)
    }
  })
}

/** The table of the library. */
const HISTORY = sql.table('kysely_migration')

const load = async (url: URL | null | undefined): Promise<Partial<ReversibleMigration>> =>
  url ? ((await import(url.href)) as ReversibleMigration) : {}

/** The applied migrations, in the order in which they were applied. */
async function inOrder(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string; timestamp: string }>`select name, timestamp from ${HISTORY}`.execute(db)
  const key = ({ name, timestamp }: { name: string; timestamp: string }) => `${timestamp} ${name}`
  return rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)).map(({ name }) => name)
}
