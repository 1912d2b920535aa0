import type { App } from '../../../context.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { LIMIT_NAMES, type LimitName } from './model.ts'
import { loadLimits } from './queries.ts'

/** Absent limits stay unchanged. */
export async function updateLimits(
  app: App,
  input: { readonly [name in LimitName]?: number | null | undefined },
): Promise<void> {
  await transact(app, async (app) => {
    const current = await loadLimits(app.db)
    const rows = LIMIT_NAMES.flatMap((name) => {
      const value = input[name] ?? current[name]
      return value === current[name] ? [] : [{ name, value }]
    })
    if (rows.length === 0) return
    await app.db
      .insertInto('plan_limits')
      .values(rows)
      .onConflict((c) => c.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })))
      .execute()
    await emit(app, 'plan_limits.updated', { names: rows.map(({ name }) => name) })
  })
}
