import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

export async function up(db: Kysely<never>): Promise<void> {
  const { withId, ref, timestamp, boolean } = columnTypes(db)
  const table = (name: string) => withId(db.schema.createTable(name))
  const index = (name: string, on: string, columns: string[]) =>
    db.schema.createIndex(name).on(on).columns(columns).execute()

  /** The project that the pool gets its objects from; the pool's objects stay when the project is deleted. */
  await db.schema
    .alterTable('pools')
    .addColumn('source_id', ref, (c) => c.references('projects.id').onDelete('set null'))
    .execute()
  await index('pools_source', 'pools', ['source_id'])

  /** Shown if a project has no avatar. */
  await db.schema.alterTable('projects').addColumn('logo_path', 'text').execute()

  /**
   * Verification results of signed commits and tags. They stay when the key is deleted, so that a verified signature
   * stays verified.
   */
  await table('signatures')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    /** The id of the commit or tag. */
    .addColumn('object_id', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    /** The signer as the signature names it: a PGP key id or the fingerprint of an SSH key. */
    .addColumn('signed_by', 'text')
    .addColumn('gpg_key_id', ref, (c) => c.references('gpg_keys.id').onDelete('set null'))
    .addColumn('gpg_subkey_id', ref, (c) => c.references('gpg_subkeys.id').onDelete('set null'))
    .addColumn('key_id', ref, (c) => c.references('keys.id').onDelete('set null'))
    .addColumn('holder_name', 'text')
    .addColumn('holder_email', 'text')
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .addColumn('updated_at', timestamp, (c) => c.notNull())
    .execute()
  await db.schema
    .createIndex('signatures_object_unique')
    .unique()
    .on('signatures')
    .columns(['project_id', 'object_id'])
    .execute()
  await index('signatures_signed_by', 'signatures', ['signed_by'])
  for (const key of ['gpg_key_id', 'gpg_subkey_id', 'key_id']) await index(`signatures_${key}`, 'signatures', [key])

  /** Written before refs move, and deleted when all subscribers ran: a remaining row was interrupted in between. */
  await table('pending_changes')
    .addColumn('project_id', ref, (c) => c.notNull().references('projects.id').onDelete('cascade'))
    .addColumn('wiki', boolean, (c) => c.notNull())
    .addColumn('user_id', ref, (c) => c.references('users.id').onDelete('set null'))
    .addColumn('updates', 'text', (c) => c.notNull())
    .addColumn('options', 'text', (c) => c.notNull())
    .addColumn('created_at', timestamp, (c) => c.notNull())
    .execute()
  await index('pending_changes_project', 'pending_changes', ['project_id', 'id'])
  await index('pending_changes_user', 'pending_changes', ['user_id'])
}
