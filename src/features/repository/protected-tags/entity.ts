import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { AllowanceEntity, presentAllowances } from '../protected-branches/entity.ts'
import type { LoadedRule } from '../protected-branches/matching.ts'

export const ProtectedTagEntity = entity({
  name: z.string(),
  create_access_levels: z.array(AllowanceEntity),
}).meta({ id: 'ProtectedTag' })

export function presentProtectedTag(rule: LoadedRule): z.infer<typeof ProtectedTagEntity> {
  return { name: rule.name, create_access_levels: presentAllowances(rule, 'create') }
}
