/** Finds the owner of a key. The SSH server verifies possession of the key, and `access.ts` checks permissions. */
import { createHash } from 'node:crypto'
import { timestamp } from '../../clock.ts'
import type { App } from '../../context.ts'
import { Refusal, type FieldErrors } from '../../errors.ts'
import { findKeyByFingerprint } from '../../features/identity/keys/queries.ts'
import { readKey } from '../../features/identity/keys/validation.ts'
import { findUser } from '../../features/identity/users/queries.ts'
import { currentSettings } from '../../features/instance/settings/queries.ts'
import type { Row } from '../../store/database.ts'
import type { Principal } from '../principal.ts'

export interface SshIdentity {
  readonly principal: Principal
  readonly key: Row<'keys'>
  /** The name in the greeting. */
  readonly name: string
}

/** In the format of ssh-keygen. */
export const fingerprintOf = (blob: Buffer): string =>
  `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`

/** Null for an unknown key, a key for signing only, an expired key, or a key whose owner may not sign in. */
export async function findSshIdentity(app: App, fingerprint: string): Promise<SshIdentity | null> {
  const key = await findKeyByFingerprint(app.db, { fingerprint_sha256: fingerprint })
  if (!key || (key.expires_at !== null && key.expires_at <= timestamp(app.clock))) return null
  const rights = { mayFetch: true, mayPush: true, via: 'ssh_key' } as const
  if (key.kind === 'deploy') {
    const creator = key.creator_id === null ? null : await findUser(app.db, key.creator_id)
    return { key, name: 'Anonymous', principal: { ...rights, user: creator, deployKeyId: key.id } }
  }
  const user = key.user_id === null ? null : await findUser(app.db, key.user_id)
  if (key.usage_type === 'signing' || user?.state !== 'active') return null
  return { key, name: user.name, principal: { ...rights, user } }
}

/** The allowed kinds and sizes of keys may have changed since the key was added. */
export async function assertStillAllowed(app: App, { key }: Row<'keys'>): Promise<void> {
  const settings = await currentSettings(app)
  try {
    readKey({ title: 'any', key }, settings)
  } catch (error) {
    const faults = error instanceof Refusal ? (error.reason as FieldErrors).key : undefined
    if (!Array.isArray(faults)) throw error
    throw new Refusal('forbidden', `Your SSH key ${faults[0]}.`)
  }
}
