import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { digestOf, randomHex } from '../../../lib/secrets.ts'
import type { Application } from './queries.ts'
import { toScopes } from './scopes.ts'
import { assertValidApplication, linesOf, type NewApplication } from './validation.ts'

export interface WithSecret {
  application: Application
  /** Kept as a digest only: this is the one time it can be read. */
  secret: string
}

export async function createApplication(app: App, wish: NewApplication): Promise<WithSecret> {
  assertValidApplication(wish)
  const secret = randomHex()
  const now = timestamp(app.clock)
  const application = await app.db
    .insertInto('oauth_applications')
    .values({
      uid: randomHex(),
      secret_digest: digestOf(secret),
      name: wish.name,
      redirect_uri: linesOf(wish.redirect_uri).join('\n'),
      scopes: toScopes(wish.scopes).join(' '),
      confidential: wish.confidential,
      trusted: false,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { application, secret }
}

export async function renewSecret(app: App, { id }: Application): Promise<WithSecret> {
  const secret = randomHex()
  const application = await app.db
    .updateTable('oauth_applications')
    .set({ secret_digest: digestOf(secret), updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  return { application, secret }
}

/** Its codes and tokens go with it. */
export async function deleteApplication(app: App, { id }: Application): Promise<void> {
  await app.db.deleteFrom('oauth_applications').where('id', '=', id).execute()
}
