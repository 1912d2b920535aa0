import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import { transact } from '../../../store/transact.ts'
import type { SourceColumns } from '../../access/members/model.ts'
import { NAME_FOR_JOBS, type DeployTokenScope } from './model.ts'
import type { DeployToken } from './queries.ts'

const PREFIX = 'mdt-'

export interface DeployTokenInput {
  name: string
  scopes: readonly DeployTokenScope[]
  username?: string | null
  expires_at?: string | null
}

export async function createDeployToken(
  app: App,
  actor: User,
  { group_id, project_id }: SourceColumns,
  input: DeployTokenInput,
): Promise<{ token: DeployToken; secret: string }> {
  const secret = PREFIX + randomToken()
  const token = await transact(app, async (app) => {
    const made = await app.db
      .insertInto('deploy_tokens')
      .values({
        group_id,
        project_id,
        name: input.name,
        username: input.username ?? '',
        digest: digestOf(secret),
        secret_sealed: input.name === NAME_FOR_JOBS ? app.vault.seal(secret) : null,
        scopes: [...new Set(input.scopes)].join(' '),
        expires_at: input.expires_at ?? null,
        revoked: false,
        creator_id: actor.id,
        last_used_at: null,
        created_at: timestamp(app.clock),
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    if (input.username) return made
    const username = `gitlab+deploy-token-${made.id}` // the format that clients and scripts expect
    await app.db.updateTable('deploy_tokens').set({ username }).where('id', '=', made.id).execute()
    return { ...made, username }
  })
  return { token, secret }
}

export async function deleteDeployToken(app: App, { id }: DeployToken): Promise<void> {
  const { numDeletedRows } = await app.db.deleteFrom('deploy_tokens').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // a concurrent request deleted the row
}
