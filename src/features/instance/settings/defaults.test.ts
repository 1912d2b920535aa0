import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { startForge, type TestForge } from '../../../forge.ts'
import { up } from '../../../store/migrations/before-baseline/2026-11-18-0300-kept-defaults.ts'
import { DEFAULTS_ROW, keepDefaults } from './defaults.ts'
import { DEFAULTS } from './model.ts'
import { forgetSettings } from './queries.ts'

/** The settings of an instance whose first version had these defaults, after this version has started. */
async function startAfter(forge: TestForge, first: Record<string, unknown>): Promise<Record<string, unknown>> {
  const value = JSON.stringify(first)
  await forge.app.db.updateTable('settings').set({ value }).where('name', '=', DEFAULTS_ROW).execute()
  await keepDefaults(forge.app)
  forgetSettings(forge.app)
  return (await forge.administrator.get('/application/settings')).body
}

test('an upgrade changes no setting; new settings begin with their default', async () => {
  await using forge = await startForge()
  const first = { default_projects_limit: 7, home_page_url: 'https://example.com', retired_setting: 1 }
  const settings = await startAfter(forge, first)
  expect(settings).toMatchObject({ default_projects_limit: 7, home_page_url: 'https://example.com' })
  expect(settings.max_artifacts_size).toBe(DEFAULTS.max_artifacts_size)
  expect((await forge.administrator.get('/user')).status).toBe(200)

  await forge.administrator.put('/application/settings', { default_projects_limit: 9 })
  expect(await startAfter(forge, first)).toMatchObject({ default_projects_limit: 9 })
})

test('an instance that is older than a changed default gets its old value back', async () => {
  await using forge = await startForge()
  const { db } = forge.app
  const read = async () => {
    forgetSettings(forge.app)
    const { body } = await forge.administrator.get('/application/settings')
    return [body.allow_local_requests_from_system_hooks, body.require_admin_approval_after_user_signup]
  }
  const apply = () => up(db as never)
  const now = new Date().toISOString()
  for (const name of ['001-foundation', '2026-11-16-2200-events-out', '2026-11-17-1520-sign-up'])
    await sql`insert into kysely_migration (name, timestamp) values (${name}, ${now})`.execute(db)
  await sql`update kysely_migration set timestamp = ${now}`.execute(db)
  await apply()
  expect(await read(), 'an instance of today').toEqual([true, true])

  await sql`update kysely_migration set timestamp = '2026-11-16T20:00:00.000Z'
    where name < '2026-11-17-1520-sign-up'`.execute(db)
  await apply()
  expect(await read(), 'an instance from before people registered').toEqual([true, false])

  await forge.administrator.put('/application/settings', { require_admin_approval_after_user_signup: true })
  await sql`update kysely_migration set timestamp = '2026-11-15T20:00:00.000Z'
    where name < '2026-11-16-2200-events-out'`.execute(db)
  await apply()
  expect(await read(), 'what an administrator has set stays').toEqual([false, true])
})
