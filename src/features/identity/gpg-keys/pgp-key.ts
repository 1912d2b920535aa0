/**
 * Parses armored OpenPGP public keys. Exactly one key in one block is accepted; everything else is null and nothing
 * throws. Emails and subkeys are listed only if the key itself certifies them with a valid signature, because the owner
 * of a listed address or subkey is believed to be the author of commits signed with it.
 */
import type * as openpgpModule from 'openpgp'
import type { Key, Subkey } from 'openpgp'

export interface PgpPublicKey {
  /** Upper-case hex, like `keyId`, which is its last 16 digits. */
  fingerprint: string
  keyId: string
  /** Every user ID, certified or not. */
  userIds: string[]
  /** Lower-case, from the user IDs that are certified by the key and not revoked; none if the key is revoked. */
  emails: string[]
  /** Includes revoked and expired ones, which made signatures while they were valid. */
  subkeys: { fingerprint: string; keyId: string }[]
  expiresAt: Date | null
  armored: string
}

type OpenPgp = typeof openpgpModule

const header = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const footer = '-----END PGP PUBLIC KEY BLOCK-----'
const maxText = 128 * 1024
const maxSignatureChecks = 500

export function looksLikePgpBlock(text: string): boolean {
  const block = text.trim()
  return block.startsWith(header) && block.endsWith(footer)
}

export async function parsePgpPublicKey(armored: string): Promise<PgpPublicKey | null> {
  if (armored.length > maxText || !looksLikePgpBlock(armored)) return null
  const block = armored.trim().replace(/\r\n?/g, '\n')
  const hasOneBlock = block.split('-----').length === 5
  if (!hasOneBlock) return null

  const openpgp = await import('openpgp') // a megabyte of code that few processes need
  try {
    const [key, another] = await openpgp.readKeys({ armoredKeys: block })
    if (!key || another || key.isPrivate() || !isAffordable(key)) return null
    return await describe(openpgp, key, block)
  } catch {
    return null // the library throws plain errors for malformed input
  }
}

async function describe(openpgp: OpenPgp, key: Key, armored: string): Promise<PgpPublicKey> {
  const expiry = await key.getExpirationTime()
  const subkeys: Subkey[] = []
  for (const subkey of key.subkeys) if (await isBound(openpgp, subkey)) subkeys.push(subkey)
  return {
    ...namesOf(key),
    userIds: key.getUserIDs(),
    emails: await certifiedEmails(key),
    subkeys: subkeys.map(namesOf),
    expiresAt: expiry instanceof Date ? expiry : null,
    armored,
  }
}

function namesOf(key: Key | Subkey) {
  return { fingerprint: key.getFingerprint().toUpperCase(), keyId: key.getKeyID().toHex().toUpperCase() }
}

async function certifiedEmails(key: Key): Promise<string[]> {
  if (await key.isRevoked()) return []
  const emails = new Set<string>()
  for (const user of key.users) {
    const email = user.userID?.email
    if (email && (await holdsTrue(user.verify()))) emails.add(email.toLowerCase())
  }
  return [...emails]
}

/**
 * The primary key must have signed the subkey, and a signing subkey must have signed back. Otherwise anyone could
 * attach another person's subkey and claim its signatures.
 */
async function isBound({ enums }: OpenPgp, subkey: Subkey): Promise<boolean> {
  const primary = subkey.mainKey.keyPacket
  const bound = { key: primary, bind: subkey.keyPacket }
  for (const binding of subkey.bindingSignatures) {
    if (!(await holdsTrue(binding.verify(primary, enums.signature.subkeyBinding, bound)))) continue
    const signs = ((binding.keyFlags?.[0] ?? 0) & enums.keyFlags.signData) !== 0
    if (!signs) return true
    const back = binding.embeddedSignature
    if (back && (await holdsTrue(back.verify(subkey.keyPacket, enums.signature.keyBinding, bound)))) return true
  }
  return false
}

/** The library reports an invalid signature by throwing. */
function holdsTrue(check: Promise<unknown>): Promise<boolean> {
  return check.then(
    () => true,
    () => false,
  )
}

/**
 * A small text can cause much computation: each certification is checked against each revocation, and numbers beyond
 * the limits of OpenSSL are computed in JavaScript, where one check of a forged RSA key takes minutes.
 */
function isAffordable(key: Key): boolean {
  const { directSignatures } = key as Key & { directSignatures: unknown[] } // missing in the library's types
  let checks = key.revocationSignatures.length + directSignatures.length
  for (const user of key.users) checks += user.selfCertifications.length * (1 + user.revocationSignatures.length)
  for (const subkey of key.subkeys) checks += 2 * subkey.bindingSignatures.length
  return checks <= maxSignatureChecks && [key, ...key.subkeys].every(hasUsualSize)
}

const maxBytes: Record<string, number> = { n: 2048, e: 4, p: 512, q: 32, g: 512, y: 512 }

function hasUsualSize({ keyPacket }: Key | Subkey): boolean {
  return Object.entries(keyPacket.publicParams).every(
    ([name, value]) => !(value instanceof Uint8Array) || value.length <= (maxBytes[name] ?? 2048),
  )
}
