import { assertRules } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { digestOf, randomHex } from '../../../lib/crypto/secrets.ts'
import type { Application } from './queries.ts'
import { toScopes } from './scopes.ts'
import { applicationRules, linesOf, type NewApplication } from './validation.ts'

export interface WithSecret {
  application: Application
  /** The value can be read only here: the store has only its digest. */
  secret: string
}

/** The application belongs to the instance if it has no owner. */
export async function createApplication(
  app: App,
  input: NewApplication,
  owner: Pick<User, 'id'> | null = null,
): Promise<WithSecret> {
  assertRules(applicationRules, input)
  const secret = randomHex()
  const now = timestamp(app.clock)
  const application = await app.db
    .insertInto('oauth_applications')
    .values({
      uid: randomHex(),
      secret_digest: digestOf(secret),
      ...columnsOf(input),
      trusted: false,
      owner_id: owner?.id ?? null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return { application, secret }
}

const columnsOf = (input: NewApplication) => ({
  name: input.name,
  redirect_uri: linesOf(input.redirect_uri).join('\n'),
  scopes: toScopes(input.scopes).join(' '),
  confidential: input.confidential,
})

/** Absent fields stay unchanged. Existing tokens keep their scopes. */
export async function changeApplication(
  app: App,
  application: Application,
  input: { [K in keyof NewApplication]?: NewApplication[K] | null | undefined },
): Promise<Application> {
  const changed = {
    name: input.name ?? application.name,
    redirect_uri: input.redirect_uri ?? application.redirect_uri,
    scopes: input.scopes ?? application.scopes,
    confidential: input.confidential ?? application.confidential,
  }
  assertRules(applicationRules, changed)
  const found = await app.db
    .updateTable('oauth_applications')
    .set({ ...columnsOf(changed), updated_at: timestamp(app.clock) })
    .where('id', '=', application.id)
    .returningAll()
    .executeTakeFirst()
  if (!found) throw notFound('Application') // deleted in the meantime
  return found
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

/** Its codes and tokens are deleted with it. */
export async function deleteApplication(app: App, { id }: Application): Promise<void> {
  await app.db.deleteFrom('oauth_applications').where('id', '=', id).execute()
}
