/**
 * The public UUID of an event. A webhook receiver that acts on an event sends it back; the signature makes it
 * unforgeable.
 */
import type { Vault } from './secrets.ts'

const ID_DIGITS = 12

export function eventUuid(vault: Pick<Vault, 'sign'>, id: number): string {
  const proof = Buffer.from(vault.sign('event uuid', String(id)), 'base64url').toString('hex')
  const parts = [proof.slice(0, 8), proof.slice(8, 12), `8${proof.slice(12, 15)}`, `8${proof.slice(15, 18)}`]
  return [...parts, id.toString(16).padStart(ID_DIGITS, '0')].join('-')
}

/** Null if the UUID is not one of ours. */
export function eventIn(vault: Pick<Vault, 'sign'>, uuid: string): number | null {
  const id = parseInt(uuid.slice(-ID_DIGITS), 16)
  return uuid.length === 36 && Number.isSafeInteger(id) && eventUuid(vault, id) === uuid ? id : null
}
