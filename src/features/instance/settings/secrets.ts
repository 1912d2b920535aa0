/** Secrets of other families in the settings table, encrypted: `secret:…`. */
import type { App, SecretReset } from '../../../context.ts'
import { attributeOf, SETTING_NAMES } from './model.ts'

type SecretName = `secret:${string}`

export async function findSecret(app: App, name: SecretName): Promise<string | null> {
  const row = await app.db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row ? app.vault.open(JSON.parse(row.value) as string) : null
}

/** If two processes create the secret concurrently, the first wins and both use its value. */
export async function keepSecret(app: App, name: SecretName, secret: string): Promise<string> {
  await app.db
    .insertInto('settings')
    .values({ name, value: JSON.stringify(app.vault.seal(secret)) })
    .onConflict((c) => c.column('name').doNothing())
    .execute()
  return (await findSecret(app, name)) ?? secret
}

/** Other families recreate their secrets on demand. Encrypted settings must be entered again by an administrator. */
export const dropSecrets: SecretReset = async (app) => {
  const sealed = new Set<string>(SETTING_NAMES.filter((name) => attributeOf(name).sealed))
  const rows = await app.db.selectFrom('settings').select(['name', 'value']).execute()
  const lost = rows.filter(({ name, value }) => {
    const text = JSON.parse(value) as unknown
    return (sealed.has(name) || name.startsWith('secret:')) && typeof text === 'string' && !app.vault.canOpen(text)
  })
  for (const { name } of lost) await app.db.deleteFrom('settings').where('name', '=', name).execute()
  const settings = lost.flatMap(({ name }) => (sealed.has(name) ? [name] : []))
  return settings.map((name) => `the setting ${name} is lost: set it again`)
}
