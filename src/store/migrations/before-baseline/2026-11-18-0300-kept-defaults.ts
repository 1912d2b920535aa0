import { sql, type Kysely } from 'kysely'

/**
 * Two defaults changed with an upgrade. An instance that is older than the version which changed a default gets its old
 * value back, unless an administrator has set the value in the meantime. The times at which migrations ran show the
 * age.
 */
const CHANGED = [
  { name: 'allow_local_requests_from_system_hooks', by: '2026-11-16-2200-events-out' },
  { name: 'require_admin_approval_after_user_signup', by: '2026-11-17-1520-sign-up' },
]

/** The migrations of one start finish within a minute of each other. */
const ONE_START_MS = 60_000

export async function up(db: Kysely<never>): Promise<void> {
  const { rows } = await sql<{ name: string; timestamp: string }>`select name, timestamp from kysely_migration`.execute(
    db,
  )
  const appliedAt = new Map(rows.map(({ name, timestamp }) => [name, Date.parse(timestamp)]))
  const begun = Math.min(...appliedAt.values())
  for (const { name, by } of CHANGED) {
    if ((appliedAt.get(by) ?? 0) - begun < ONE_START_MS) continue
    await sql`insert into settings (name, value) values (${name}, 'false') on conflict (name) do nothing`.execute(db)
  }
}
