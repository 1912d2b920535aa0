/** The secret of each job, by which it is known to the API and to git while it runs. */
import { digestOf, randomToken, type Vault } from '../../../lib/secrets.ts'

export const JOB_TOKEN_PREFIX = 'glcbt-'

export function newJobToken(vault: Vault): { token_digest: string; token_sealed: string } {
  const token = `${JOB_TOKEN_PREFIX}${randomToken()}`
  return { token_digest: digestOf(token), token_sealed: vault.seal(token) }
}
