import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { invalid } from '../../../errors.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { SETTING_NAMES, attributeOf, type Settings } from './model.ts'
import { UPDATED_AT, currentSettings, encodeSetting, findGroupId, forgetSettings } from './queries.ts'
import { assertValidSettings } from './validation.ts'

/** Validated values by setting. Null clears a nullable setting and leaves the others unchanged. */
export type SettingsChange = Record<string, unknown>

export async function updateSettings(app: App, input: SettingsChange): Promise<void> {
  await transact(app, async (app) => {
    await lockSettings(app)
    const current = await currentSettings(app)
    const next: Settings = {
      ...current,
      ...givenSettings(input),
      ...confirmation(current, givenSettings(input)),
      ...(await performanceBar(app, input)),
    }
    assertValidSettings(next)
    const names = SETTING_NAMES.filter((name) => JSON.stringify(next[name]) !== JSON.stringify(current[name]))
    if (names.length === 0) return

    const rows = names.map((name) => ({ name: name as string, value: encodeSetting(app, name, next[name]) }))
    await app.db
      .insertInto('settings')
      .values([...rows, changedNow(app)])
      .onConflict((c) => c.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })))
      .execute()
    await emit(app, 'settings.updated', { names })
    app.onCommit(() => forgetSettings(app))
  })
}

const changedNow = (app: App) => ({ name: UPDATED_AT, value: JSON.stringify(timestamp(app.clock)) })

/** Serializes concurrent changes, so that the second is validated together with the values of the first. */
async function lockSettings(app: App): Promise<void> {
  await app.db
    .insertInto('settings')
    .values(changedNow(app))
    .onConflict((c) => c.column('name').doUpdateSet((eb) => ({ value: eb.ref('settings.value') })))
    .execute()
}

function givenSettings(input: SettingsChange): Partial<Settings> {
  const given = SETTING_NAMES.filter((name) => {
    const value = input[name]
    return value !== undefined && (value !== null || attributeOf(name).initial === null)
  })
  return Object.fromEntries(given.map((name) => [name, input[name]]))
}

/**
 * Two names of one choice; the older name has no `soft`. Clients send whole records back, so the value that differs
 * from the current one counts. If both differ, the newer name wins.
 */
function confirmation(current: Settings, input: Partial<Settings>): Partial<Settings> {
  const { email_confirmation_setting: later, send_user_confirmation_email: older } = { ...current, ...input }
  const isMeant = later === current.email_confirmation_setting && older !== current.send_user_confirmation_email
  const setting = isMeant ? (older ? 'hard' : 'off') : later
  return { email_confirmation_setting: setting, send_user_confirmation_email: setting === 'hard' }
}

async function performanceBar(app: App, input: SettingsChange): Promise<Partial<Settings>> {
  const { performance_bar_enabled: enabled, performance_bar_allowed_group_id: given } = input
  if (enabled === false || given === null) return { performance_bar_allowed_group_id: null }
  if (typeof given !== 'string') return {}
  const id = await findGroupId(app, given)
  if (id === null) throw invalid({ performance_bar_allowed_group_id: ['not found'] })
  return { performance_bar_allowed_group_id: id }
}
