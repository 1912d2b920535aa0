import type { Kysely } from 'kysely'
import { columnTypes } from '../helpers/columns.ts'

/** For a pipeline that a job created: the root pipeline, so that its descendants can be counted. */
export async function up(db: Kysely<never>): Promise<void> {
  const { ref } = columnTypes(db)
  await db.schema.alterTable('pipelines').addColumn('root_id', ref).execute()
  await db.schema.createIndex('pipelines_root').on('pipelines').columns(['root_id']).execute()
}
