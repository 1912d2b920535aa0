import type { Kysely } from 'kysely'
import { keepVersions } from '../helpers/versions.ts'

export async function up(db: Kysely<never>): Promise<void> {
  for (const table of ['users', 'namespaces', 'projects']) await keepVersions(db, table)
}
