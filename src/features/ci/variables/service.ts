import type { App } from '../../../context.ts'
import { assertBelowLimit, invalid, notFound, taken } from '../../../errors.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { WORDS, kindOf, variablesOf, type VariableOwner } from './finding.ts'
import type { CiVariable, VariableType } from './model.ts'
import { assertValidVariable } from './validation.ts'

const MOST = { project: 8000, group: 30_000 }

export interface VariableInput {
  value?: string | undefined
  variable_type?: VariableType | null | undefined
  protected?: boolean | null | undefined
  masked?: boolean | null | undefined
  masked_and_hidden?: boolean | null | undefined
  raw?: boolean | null | undefined
  environment_scope?: string | null | undefined
  description?: string | null | undefined
}

export async function createVariable(
  app: App,
  { project_id, group_id }: VariableOwner,
  input: VariableInput & { key: string; value: string },
): Promise<CiVariable> {
  const hidden = input.masked_and_hidden ?? false
  const row = {
    project_id,
    group_id,
    key: input.key,
    variable_type: input.variable_type ?? 'env_var',
    protected: input.protected ?? false,
    masked: hidden || (input.masked ?? false),
    hidden,
    raw: input.raw ?? false,
    environment_scope: input.environment_scope ?? '*',
    description: input.description ?? null,
  }
  assertValidVariable({ ...row, value: input.value })
  return whileLocked(app, row, async (app) => {
    await assertFree(app, row)
    await assertVariableAllowed(app, row)
    return app.db
      .insertInto('ci_variables')
      .values({ ...row, value_sealed: app.vault.seal(input.value) })
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

/** The key and the `hidden` flag cannot change. */
export async function updateVariable(app: App, variable: CiVariable, input: VariableInput): Promise<CiVariable> {
  return whileLocked(app, variable, async (app) => {
    const now = await variablesOf(app.db, variable).where('id', '=', variable.id).executeTakeFirst()
    if (!now) throw notFound(WORDS[kindOf(variable)].missing) // a concurrent request deleted the row
    const change = {
      variable_type: input.variable_type ?? now.variable_type,
      protected: input.protected ?? now.protected,
      masked: input.masked ?? now.masked,
      raw: input.raw ?? now.raw,
      environment_scope: input.environment_scope ?? now.environment_scope,
      description: input.description === undefined ? now.description : input.description,
    }
    if (now.hidden && !change.masked) {
      throw invalid({ base: ['The visibility setting cannot be changed for masked and hidden variables.'] })
    }
    const value = input.value ?? app.vault.open(now.value_sealed)
    assertValidVariable({ ...change, key: now.key, value })
    if (change.environment_scope !== now.environment_scope) await assertFree(app, { ...now, ...change })
    return app.db
      .updateTable('ci_variables')
      .set({ ...change, ...(input.value !== undefined && { value_sealed: app.vault.seal(value) }) })
      .where('id', '=', now.id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
}

export async function deleteVariable(app: App, variable: CiVariable): Promise<void> {
  const { numDeletedRows } = await app.db.deleteFrom('ci_variables').where('id', '=', variable.id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound(WORDS[kindOf(variable)].missing) // a concurrent request deleted the row
}

const whileLocked = <T>(
  app: App,
  { project_id, group_id }: VariableOwner,
  work: (app: App) => Promise<T>,
): Promise<T> =>
  transact(app, async (app) => {
    await lockName(app.db, `variables of ${project_id === null ? `group ${group_id}` : `project ${project_id}`}`)
    return work(app)
  })

async function assertFree(app: App, one: VariableOwner & Pick<CiVariable, 'key' | 'environment_scope'>): Promise<void> {
  const same = await variablesOf(app.db, one)
    .where('key', '=', one.key)
    .where('environment_scope', '=', one.environment_scope)
    .executeTakeFirst()
  if (same) throw taken('key')
}

async function assertVariableAllowed(app: App, owner: VariableOwner): Promise<void> {
  const kind = kindOf(owner)
  const most = kind === 'instance' ? (await loadLimits(app.db)).ci_instance_level_variables : MOST[kind]
  const { total } = await variablesOf(app.db, owner)
    .clearSelect()
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow()
  assertBelowLimit(Number(total), most, WORDS[kind].limit)
}
