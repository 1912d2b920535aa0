import type { Db } from '../../../store/database.ts'
import { hotQuery } from '../../../store/hot.ts'
import { INITIAL_LIMITS, type Limits } from './model.ts'

const changedLimits = hotQuery((db, _none: object) => db.selectFrom('plan_limits').selectAll())

export async function loadLimits(db: Db): Promise<Limits> {
  const changed = await changedLimits(db, {})
  return { ...INITIAL_LIMITS, ...Object.fromEntries(changed.map(({ name, value }) => [name, Number(value)])) }
}
