import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { VARIABLE_TYPES, type CiVariable } from './model.ts'

const record = {
  variable_type: z.enum(VARIABLE_TYPES),
  key: z.string(),
  /** Null for hidden variables. */
  value: z.string().nullable(),
  protected: z.boolean(),
  masked: z.boolean(),
  raw: z.boolean(),
  description: z.string().nullable(),
}

export const VariableEntity = entity({ ...record, hidden: z.boolean(), environment_scope: z.string() }).meta({
  id: 'Variable',
})

export const InstanceVariableEntity = entity(record).meta({ id: 'InstanceVariable' })

export function presentVariable({ vault }: App, variable: CiVariable): z.infer<typeof VariableEntity> {
  return {
    variable_type: variable.variable_type,
    key: variable.key,
    value: variable.hidden ? null : vault.open(variable.value_sealed),
    hidden: variable.hidden,
    protected: variable.protected,
    masked: variable.masked,
    raw: variable.raw,
    environment_scope: variable.environment_scope,
    description: variable.description,
  }
}

export function presentInstanceVariable(app: App, variable: CiVariable): z.infer<typeof InstanceVariableEntity> {
  const { hidden: _hidden, environment_scope: _scope, ...shown } = presentVariable(app, variable)
  return shown
}
