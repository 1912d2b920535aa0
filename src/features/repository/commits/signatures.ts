/** Who signed a commit, and whether that is whom the commit names: asked anew each time, as keys and emails change. */
import type { Key } from 'openpgp'
import type { User } from '../../../context.ts'
import type { Commit } from '../../../git/commits.ts'
import { readObject } from '../../../git/objects.ts'
import { signedCommit, type Signed } from '../../../git/signatures.ts'
import type { Db, Row } from '../../../store/database.ts'
import type { VerificationStatus } from './model.ts'

export interface Verification {
  readonly kind: Signed['kind']
  readonly status: VerificationStatus
  /** Upper-case hex; null where the signature names no key. */
  readonly keyId: string | null
  readonly key: Row<'gpg_keys'> | null
  readonly subkey: Row<'gpg_subkeys'> | null
  /** As the key names its holder. */
  readonly holder: { readonly name: string; readonly email: string } | null
}

const LARGEST_COMMIT = 1024 * 1024
const LONGEST_SIGNATURE = 32 * 1024

/** Null when it carries no signature. */
export async function verifyCommit(db: Db, dir: string, commit: Commit): Promise<Verification | null> {
  const object = await readObject(dir, commit.id, { as: 'commit', maxBytes: LARGEST_COMMIT })
  const signed = object?.content ? signedCommit(object.content) : null
  if (!signed) return null
  const unverified: Verification = {
    kind: signed.kind,
    status: 'unverified',
    keyId: null,
    key: null,
    subkey: null,
    holder: null,
  }
  if (signed.kind !== 'PGP' || signed.signature.length > LONGEST_SIGNATURE) return unverified
  const keyIds = await issuersOf(signed)
  const [keyId] = keyIds
  if (keyId === undefined) return unverified
  if (keyIds.length > 1) return { ...unverified, keyId, status: 'multiple_signatures' }
  const found = await findSigningKey(db, keyId)
  if (!found) return { ...unverified, keyId, status: 'unknown_key' }
  const parsed = await readKey(found.key)
  const status =
    parsed && (await isGood(parsed, signed)) ? await statusOf(db, found.key, commit.committer.email) : 'unverified'
  return { ...unverified, keyId, status, ...found, holder: parsed && holderOf(parsed) }
}

/** A megabyte of code, for those who need it. */
const openpgp = () => import('openpgp')

async function issuersOf({ signature }: Signed): Promise<string[]> {
  const { readSignature } = await openpgp()
  try {
    const { packets } = await readSignature({ armoredSignature: signature })
    return packets.map(({ issuerKeyID }) => issuerKeyID.toHex().toUpperCase())
  } catch {
    return [] // the library throws plain errors for all that is malformed
  }
}

async function readKey({ key }: Row<'gpg_keys'>): Promise<Key | null> {
  const { readKey } = await openpgp()
  return readKey({ armoredKey: key }).catch(() => null)
}

async function isGood(key: Key, { payload, signature }: Signed): Promise<boolean> {
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

async function findSigningKey(db: Db, keyId: string) {
  const key = await db.selectFrom('gpg_keys').selectAll().where('primary_keyid', '=', keyId).executeTakeFirst()
  if (key) return { key, subkey: null }
  const subkey = await db.selectFrom('gpg_subkeys').selectAll().where('keyid', '=', keyId).executeTakeFirst()
  if (!subkey) return null
  const primary = await db.selectFrom('gpg_keys').selectAll().where('id', '=', subkey.gpg_key_id).executeTakeFirst()
  return primary ? { key: primary, subkey } : null
}

/** Of a signature that is good: whose is it? */
async function statusOf(db: Db, { user_id, emails }: Row<'gpg_keys'>, committer: string): Promise<VerificationStatus> {
  const owned = await confirmedEmails(db, user_id)
  const vouched = emails.split(' ').filter((email) => owned.has(email))
  const email = committer.toLowerCase()
  if (vouched.length === 0) return 'unverified_key'
  if (vouched.includes(email)) return 'verified'
  return owned.has(email) ? 'same_user_different_email' : 'other_user'
}

async function confirmedEmails(db: Db, user: User['id']): Promise<Set<string>> {
  const { email, confirmed_at } = await db
    .selectFrom('users')
    .select(['email', 'confirmed_at'])
    .where('id', '=', user)
    .executeTakeFirstOrThrow()
  // An added address counts as confirmed from then on.
  const others = await db.selectFrom('emails').select('email').where('user_id', '=', user).execute()
  const all = [...(confirmed_at === null ? [] : [email]), ...others.map((one) => one.email)]
  return new Set(all.map((one) => one.toLowerCase()))
}

function holderOf({ users }: Key): Verification['holder'] {
  const named = users.find(({ userID }) => userID)?.userID
  return named ? { name: named.name, email: named.email } : null
}
