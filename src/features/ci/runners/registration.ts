/** Registration tokens for agents: of the instance, of a group, of a project. */
import type { App } from '../../../context.ts'
import { digestOf, digestOfPresented, randomToken } from '../../../lib/crypto/secrets.ts'
import { transact } from '../../../store/transact.ts'
import type { RunnerScope } from './service.ts'

/** The scope of the runner that a token creates. Null: the token is invalid. */
export async function scopeOfRegistration({ db }: App, token: string): Promise<RunnerScope | null> {
  if (token === '') return null
  const digest = digestOfPresented(token)
  const project = await db
    .selectFrom('projects')
    .select('id')
    .where('runners_token_digest', '=', digest)
    .where('deleting', '=', false)
    .executeTakeFirst()
  if (project) return { runner_type: 'project_type', project_id: project.id }
  const known = await db
    .selectFrom('runner_registration_tokens')
    .select('group_id')
    .where('token_digest', '=', digest)
    .executeTakeFirst()
  if (!known) return null
  return known.group_id === null
    ? { runner_type: 'instance_type' }
    : { runner_type: 'group_type', group_id: known.group_id }
}

/** Resets the token of a group, or with null of the instance. The old token becomes invalid. */
export function resetRegistrationToken(app: App, group_id: number | null): Promise<string> {
  const token = randomToken()
  return transact(app, async ({ db, vault }) => {
    const old = db.deleteFrom('runner_registration_tokens')
    await (group_id === null ? old.where('group_id', 'is', null) : old.where('group_id', '=', group_id)).execute()
    await db
      .insertInto('runner_registration_tokens')
      .values({ group_id, token_digest: digestOf(token), token_sealed: vault.seal(token) })
      .execute()
    return token
  })
}
