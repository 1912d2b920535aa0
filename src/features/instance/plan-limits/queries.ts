import type { Db } from '../../../store/database.ts'
import { INITIAL_LIMITS, type Limits } from './model.ts'

export async function loadLimits(db: Db): Promise<Limits> {
  const changed = await db.selectFrom('plan_limits').selectAll().execute()
  return { ...INITIAL_LIMITS, ...Object.fromEntries(changed.map(({ name, value }) => [name, Number(value)])) }
}
