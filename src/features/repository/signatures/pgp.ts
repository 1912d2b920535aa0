/** The part of openpgp that signatures need. It throws plain errors for all that is malformed; here nothing throws. */
import type { Key } from 'openpgp'
import type { Signed } from '../../../git/objects/signatures.ts'

export type PgpKey = Key

/** A megabyte of code, for those who need it. */
const openpgp = () => import('openpgp')

/** The ids of the keys that are said to have signed, one for each signature. */
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

/** By the name that stands with one of these emails, if there is one. */
export function keyOwnerOf({ users }: PgpKey, emails: readonly string[]): { name: string; email: string } | null {
  const names = users.map(({ userID }) => userID).filter((name) => name !== null)
  const named = names.find(({ email }) => emails.includes(email.toLowerCase())) ?? names[0]
  return named ? { name: named.name, email: named.email } : null
}
