/** Who signed a commit or a tag, and whether that is whom it names. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sshSignerOf } from '../../../lib/ssh-signature.ts'
import type { Db, Row } from '../../../store/database.ts'
import { confirmedEmails } from '../../identity/emails/queries.ts'
import type { VerificationStatus } from './model.ts'
import { hasSigned, keyOwnerOf, issuersOf, readPgpKey } from './pgp.ts'
import { findSigningKeys, type SignedObject, type SigningKey } from './queries.ts'

export type Verification = Omit<Row<'signatures'>, 'id' | 'project_id' | 'created_at' | 'updated_at'>

/** In the order of the objects; a few queries, however many there are. */
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
    await nextTurn() // arithmetic of a few milliseconds each: others have their turn in between
  }
  return found
}

interface Claim {
  readonly object: SignedObject
  /** The one key to ask; null where nothing it could say would help. */
  readonly signed_by: string | null
  readonly status: VerificationStatus
}

const LONGEST_SIGNATURE = 32 * 1024
/** What a signature must have been made for. */
const PURPOSE = 'git'

/** A PGP signature only names its key; one of SSH brings it along, so that it is known here whether it is good. */
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

/** Of a signature that is good: whose is it? */
function statusOf(email: string, vouched: readonly string[], owned: Set<string>): VerificationStatus {
  if (vouched.length === 0) return 'unverified_key'
  if (vouched.includes(email)) return 'verified'
  return owned.has(email) ? 'same_user_different_email' : 'other_user'
}
