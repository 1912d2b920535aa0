import type { App } from '../../../context.ts'
import type { MaybePromise } from '../../../lib/async/maybe-promise.ts'
import { DEFAULTS_ROW, readDefaults } from './defaults.ts'
import { SETTING_NAMES, attributeOf, type SettingName, type Settings } from './model.ts'

/** The maximum delay until a change by another process is visible here. */
const FRESH_MS = 1000

interface Known {
  readonly readAt: number
  readonly settings: Promise<Settings>
  /** Set when the read has finished. */
  read: Settings | null
}

const known = new WeakMap<object, Known>()

export async function currentSettings(app: App): Promise<Settings> {
  if (app.db.isTransaction) return readSettings(app)
  const fresh = freshSettings(app)
  if (fresh) return fresh.settings

  // The cache keeps the promise, not its result: a read that a change overtakes is dropped with the rest.
  const settings = readSettings(app)
  const now: Known = { readAt: app.clock.now().getTime(), settings, read: null }
  known.set(app.store, now)
  settings.then(
    (read) => (now.read = read),
    () => forgetSettings(app),
  )
  return settings
}

/** For code that runs in every request: synchronous, except once a second. */
export const settingsAtHand = (app: App): MaybePromise<Settings> => freshSettings(app)?.read ?? currentSettings(app)

function freshSettings({ store, clock }: App): Known | undefined {
  const cached = known.get(store)
  // The absolute difference, because a clock may be set back.
  return cached && Math.abs(clock.now().getTime() - cached.readAt) < FRESH_MS ? cached : undefined
}

/** Makes the next read fresh after a change in this process. */
export function forgetSettings(app: App): void {
  known.delete(app.store)
}

/** The row of the settings table with the time of the last change. */
export const UPDATED_AT = 'updated_at'

async function readSettings(app: App): Promise<Settings> {
  return settingsFrom(app, await storedValues(app))
}

async function storedValues(app: App): Promise<Map<string, string>> {
  const rows = await app.db.selectFrom('settings').selectAll().execute()
  return new Map(rows.map(({ name, value }) => [name, value]))
}

function settingsFrom(app: App, stored: Map<string, string>): Settings {
  const changed = SETTING_NAMES.filter((name) => stored.has(name)).map((name) => [
    name,
    decode(app, name, stored.get(name)!),
  ])
  return Object.freeze({ ...readDefaults(stored.get(DEFAULTS_ROW)), ...Object.fromEntries(changed) })
}

function decode(app: App, name: SettingName, stored: string): unknown {
  const value: unknown = JSON.parse(stored)
  if (!attributeOf(name).sealed || value === null) return value
  try {
    return app.vault.open(value as string)
  } catch {
    // Another instance key encrypted it. The credential is lost, but the instance must still run.
    app.log.warn({ setting: name }, 'setting cannot be opened with this secret key')
    return null
  }
}

export const encodeSetting = (app: App, name: SettingName, value: unknown): string =>
  JSON.stringify(attributeOf(name).sealed && value !== null ? app.vault.seal(value as string) : value)

export interface SettingsRecord {
  readonly settings: Settings
  readonly created_at: string
  readonly updated_at: string
}

/** Bypasses the cache: an administrator reads the last written values, whichever process wrote them. */
export async function loadSettings(app: App): Promise<SettingsRecord> {
  const stored = await storedValues(app)
  // The settings are as old as the instance, and the instance is as old as its first account.
  const { created_at } = await app.db
    .selectFrom('users')
    .select('created_at')
    .orderBy('created_at')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  const changedAt = stored.get(UPDATED_AT)
  return {
    settings: settingsFrom(app, stored),
    created_at,
    updated_at: changedAt ? (JSON.parse(changedAt) as string) : created_at,
  }
}

/** A group by id or path; null if there is none. */
export async function findGroupId(app: App, given: string): Promise<number | null> {
  const group = await app.db
    .selectFrom('namespaces')
    .select('id')
    .where('kind', '=', 'group')
    .where((eb) =>
      /^\d{1,15}$/.test(given)
        ? eb('id', '=', Number(given))
        : eb(eb.fn<string>('lower', ['full_path']), '=', given.toLowerCase()),
    )
    .executeTakeFirst()
  return group?.id ?? null
}
