/**
 * An instance keeps the defaults it started with. A later version may change a default for new instances, but an
 * upgrade must not change the behaviour of an existing instance. A setting that a version adds starts with that
 * version's default.
 */
import type { App } from '../../../context.ts'
import { DEFAULTS, SETTING_NAMES, attributeOf, type Settings } from './model.ts'

/** The row of the settings table that contains the defaults. */
export const DEFAULTS_ROW = 'defaults'

export function readDefaults(stored: string | undefined): Settings {
  if (stored === undefined) return DEFAULTS
  const kept = JSON.parse(stored) as Partial<Settings>
  return Object.fromEntries(
    SETTING_NAMES.map((name) => [name, name in kept ? kept[name] : DEFAULTS[name]]),
  ) as unknown as Settings
}

/** Runs at every start: records the defaults of settings that have none recorded yet. */
export async function keepDefaults({ db }: App): Promise<void> {
  const row = await db.selectFrom('settings').select('value').where('name', '=', DEFAULTS_ROW).executeTakeFirst()
  const kept = row ? (JSON.parse(row.value) as Partial<Settings>) : {}
  const names = SETTING_NAMES.filter((name) => !attributeOf(name).sealed)
  if (names.every((name) => name in kept)) return
  const value = JSON.stringify({ ...Object.fromEntries(names.map((name) => [name, DEFAULTS[name]])), ...kept })
  await db
    .insertInto('settings')
    .values({ name: DEFAULTS_ROW, value })
    .onConflict((c) => c.column('name').doUpdateSet({ value }))
    .execute()
}
