import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { LIMIT_NAMES, type LimitName, type Limits } from './model.ts'

/** A record with the same type for each limit. */
export const ofEachLimit = <T>(type: T) =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, type])) as Record<LimitName, T>

export const PlanLimitsEntity = entity(ofEachLimit(z.int())).meta({ id: 'PlanLimits' })

export const presentLimits = (limits: Limits): z.infer<typeof PlanLimitsEntity> =>
  Object.fromEntries(LIMIT_NAMES.map((name) => [name, limits[name]])) as Limits
