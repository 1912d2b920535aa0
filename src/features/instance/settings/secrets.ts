/** Secrets that other families keep among the settings, sealed: `secret:…`. */
import type { App } from '../../../context.ts'

type SecretName = `secret:${string}`

export async function findSecret(app: App, name: SecretName): Promise<string | null> {
  const row = await app.db.selectFrom('settings').select('value').where('name', '=', name).executeTakeFirst()
  return row ? app.vault.open(JSON.parse(row.value) as string) : null
}

/** Of two processes that make one at the same time the first wins, and both use that. */
export async function keepSecret(app: App, name: SecretName, secret: string): Promise<string> {
  await app.db
    .insertInto('settings')
    .values({ name, value: JSON.stringify(app.vault.seal(secret)) })
    .onConflict((c) => c.column('name').doNothing())
    .execute()
  return (await findSecret(app, name)) ?? secret
}
