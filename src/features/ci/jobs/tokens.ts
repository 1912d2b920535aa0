/** The token of each job. The API and git accept the token while the job runs. */
import { digestOf, randomToken, type Vault } from '../../../lib/crypto/secrets.ts'

export const JOB_TOKEN_PREFIX = 'glcbt-'

export function newJobToken(vault: Vault): { token_digest: string; token_sealed: string } {
  const token = `${JOB_TOKEN_PREFIX}${randomToken()}`
  return { token_digest: digestOf(token), token_sealed: vault.seal(token) }
}
