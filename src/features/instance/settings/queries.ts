import type { App } from '../../../context.ts'
import { DEFAULTS, type Settings } from './model.ts'

/** Another process may change a setting; its change is seen here this much later at most. */
const FRESH_MS = 1000

const known = new WeakMap<object, { readAt: number; settings: Settings }>()

export async function currentSettings(app: App): Promise<Settings> {
  const cached = known.get(app.store)
  if (cached && !app.db.isTransaction && performance.now() - cached.readAt < FRESH_MS) return cached.settings
  const rows = await app.db.selectFrom('settings').selectAll().execute()
  const changed = Object.fromEntries(rows.map(({ name, value }) => [name, JSON.parse(value)]))
  const settings: Settings = Object.freeze({ ...DEFAULTS, ...changed })
  if (!app.db.isTransaction) known.set(app.store, { readAt: performance.now(), settings })
  return settings
}

/** After a change in this process the next read is fresh. */
export function forgetSettings(app: App): void {
  known.delete(app.store)
}
