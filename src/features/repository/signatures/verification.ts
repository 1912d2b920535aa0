/** Finds who signed a commit or a tag, and whether the signer is its committer or tagger. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sshSignerOf } from './ssh-signature.ts'
import type { Db, Row } from '../../../store/database.ts'
import { confirmedEmails } from '../../identity/emails/queries.ts'
import type { VerificationStatus } from './model.ts'
import { hasSigned, keyOwnerOf, issuersOf, readPgpKey } from './pgp.ts'
import { findSigningKeys, type SignedObject, type SigningKey } from './queries.ts'

export type Verification = Omit<Row<'signatures'>, 'id' | 'project_id' | 'created_at' | 'updated_at'>

/** In the order of the objects, with a fixed number of queries. */
export async function verifyAll(db: Db, objects: readonly SignedObject[]): Promise<Verification[]> {
  const claims: Claim[] = []
  for (const object of objects) claims.push(await claimOf(object))
  const keys = await findSigningKeys(
    db,
    claims.map(({ signed_by }) => signed_by),
  )
  const emails = await confirmedEmails(
    db,
    [...keys.values()].map(({ user_id }) => user_id),
  )
  const found: Verification[] = []
  for (const claim of claims) {
    const key = keys.get(claim.signed_by ?? '')
    found.push(key ? await judge(claim, key, emails.get(key.user_id)!) : withoutKey(claim))
    await nextTurn() // each check takes milliseconds of CPU: yield to other requests in between
  }
  return found
}

interface Claim {
  readonly object: SignedObject
  /** The key to look up. Null if no key could verify the signature. */
  readonly signed_by: string | null
  readonly status: VerificationStatus
}

const LONGEST_SIGNATURE = 32 * 1024
/** The purpose (namespace) that an SSH signature must be made for. */
const PURPOSE = 'git'

/**
 * A PGP signature only names its key, so this step cannot check it. An SSH signature contains its key and is checked
 * here.
 */
async function claimOf(object: SignedObject): Promise<Claim> {
  const { kind, payload, signature } = object
  const unverified: Claim = { object, signed_by: null, status: 'unverified' }
  if (kind === 'X509' || signature.length > LONGEST_SIGNATURE) return unverified
  if (kind === 'SSH') {
    const signer = sshSignerOf(signature, payload, PURPOSE)
    return signer ? { object, signed_by: signer.sha256, status: 'unknown_key' } : unverified
  }
  const [issuer, ...others] = await issuersOf(signature)
  if (issuer === undefined) return unverified
  if (others.length > 0) return { ...unverified, status: 'multiple_signatures' }
  return { object, signed_by: issuer, status: 'unknown_key' }
}

const withoutKey = ({ object: { id, kind }, signed_by, status }: Claim): Verification => ({
  object_id: id,
  kind,
  status,
  signed_by,
  gpg_key_id: null,
  gpg_subkey_id: null,
  key_id: null,
  holder_name: null,
  holder_email: null,
})

async function judge(claim: Claim, key: SigningKey, owned: Set<string>): Promise<Verification> {
  const { gpg_key_id, gpg_subkey_id, key_id, armored } = key
  const vouched = key.emails?.filter((email) => owned.has(email)) ?? [...owned]
  const pgp = armored === null ? null : await readPgpKey(armored)
  const holder = pgp && keyOwnerOf(pgp, vouched)
  const isGood = armored === null || (pgp !== null && (await hasSigned(pgp, claim.object)))
  return {
    ...withoutKey(claim),
    status: isGood ? statusOf(claim.object.email.toLowerCase(), vouched, owned) : 'unverified',
    gpg_key_id,
    gpg_subkey_id,
    key_id,
    holder_name: holder?.name ?? null,
    holder_email: holder?.email ?? null,
  }
}

/** The status of a valid signature, by the owner of its key. */
function statusOf(email: string, vouched: readonly string[], owned: Set<string>): VerificationStatus {
  if (vouched.length === 0) return 'unverified_key'
  if (vouched.includes(email)) return 'verified'
  return owned.has(email) ? 'same_user_different_email' : 'other_user'
}
