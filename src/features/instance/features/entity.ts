import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Feature } from './model.ts'

const GateEntity = entity({
  key: z.enum(['boolean', 'groups', 'actors', 'percentage_of_actors', 'percentage_of_time']),
  value: z.union([z.boolean(), z.int(), z.array(z.string())]),
})

export const FeatureEntity = entity({
  name: z.string(),
  state: z.enum(['on', 'off', 'conditional']),
  gates: z.array(GateEntity),
}).meta({ id: 'Feature' })

type Gate = z.infer<typeof GateEntity>

export function presentFeature(feature: Feature): z.infer<typeof FeatureEntity> {
  const conditions = conditionsOf(feature)
  return {
    name: feature.name,
    state: isOn(feature) ? 'on' : conditions.length > 0 ? 'conditional' : 'off',
    gates: [{ key: 'boolean', value: feature.enabled }, ...conditions],
  }
}

const isOn = ({ enabled, percentage_of_time, percentage_of_actors }: Feature) =>
  enabled || percentage_of_time === 100 || percentage_of_actors === 100

function conditionsOf({ groups, actors, percentage_of_actors, percentage_of_time }: Feature): Gate[] {
  const gates: Gate[] = []
  if (groups) gates.push({ key: 'groups', value: groups.split(',') })
  if (actors) gates.push({ key: 'actors', value: actors.split(',') })
  if (percentage_of_actors > 0) gates.push({ key: 'percentage_of_actors', value: percentage_of_actors })
  if (percentage_of_time > 0) gates.push({ key: 'percentage_of_time', value: percentage_of_time })
  return gates
}
