import type { z } from 'zod'
import type { App } from '../../../context.ts'
import { presentUserSummary, type UserSummaryEntity } from '../../identity/users/entity.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'

interface Binned {
  readonly id: number
  readonly deleted_by_id: number | null
}

/** Who deleted these projects or groups, by the id of the record. One query for the whole page. */
export async function deletersOf(
  app: App,
  records: readonly Binned[],
): Promise<Map<number, z.infer<typeof UserSummaryEntity> | null>> {
  if (records.length === 0) return new Map()
  const around = await surroundings(app)
  const loaded = await withUsers(app.db, records, { deleter: 'deleted_by_id' })
  return new Map(loaded.map(({ id, deleter }) => [id, deleter && presentUserSummary(deleter, around)]))
}
