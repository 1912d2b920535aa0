import type { App } from '../../../context.ts'
import { digestOf, randomToken } from '../../../lib/crypto/secrets.ts'
import type { Project } from './queries.ts'

/** The old token can register no runner any more. */
export async function resetRunnersToken({ db, vault }: App, { id }: Pick<Project, 'id'>): Promise<string> {
  const token = randomToken()
  await db
    .updateTable('projects')
    .set({ runners_token_digest: digestOf(token), runners_token_sealed: vault.seal(token) })
    .where('id', '=', id)
    .execute()
  return token
}
