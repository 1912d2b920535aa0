/** The part of openpgp that signatures need. openpgp throws on malformed input; these functions never throw. */
import type { Key } from 'openpgp'
import type { Signed } from '../../../git/objects/signatures.ts'

export type PgpKey = Key

/** A megabyte of code, loaded on demand. */
const openpgp = () => import('openpgp')

/** The key ids that a signature names, one for each signature. */
export async function issuersOf(armoredSignature: string): Promise<string[]> {
  const { readSignature } = await openpgp()
  try {
    const { packets } = await readSignature({ armoredSignature })
    return packets.map(({ issuerKeyID }) => issuerKeyID.toHex().toUpperCase())
  } catch {
    return []
  }
}

export async function readPgpKey(armoredKey: string): Promise<PgpKey | null> {
  const { readKey } = await openpgp()
  return readKey({ armoredKey }).catch(() => null)
}

export async function hasSigned(key: PgpKey, { payload, signature }: Signed): Promise<boolean> {
  const { createMessage, readSignature, verify } = await openpgp()
  try {
    const message = await createMessage({ binary: payload })
    const armored = await readSignature({ armoredSignature: signature })
    const { signatures } = await verify({ message, signature: armored, verificationKeys: key })
    return signatures.length === 1 && (await signatures[0]!.verified)
  } catch {
    return false
  }
}

/** The name in the key that belongs to one of these email addresses, if any. */
export function keyOwnerOf({ users }: PgpKey, emails: readonly string[]): { name: string; email: string } | null {
  const names = users.map(({ userID }) => userID).filter((name) => name !== null)
  const named = names.find(({ email }) => emails.includes(email.toLowerCase())) ?? names[0]
  return named ? { name: named.name, email: named.email } : null
}
