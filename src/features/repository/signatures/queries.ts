import { parseCommit } from '../../../git/objects/commits.ts'
import { readObjects } from '../../../git/objects/objects.ts'
import { repositoryExists } from '../../../git/storage/repositories.ts'
import { signedCommit, signedTag, type Signed } from '../../../git/objects/signatures.ts'
import { parseTag } from '../../../git/objects/tags.ts'
import type { Db, Row, TransactionDb } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'

/** A commit or a tag with its signature. */
export interface SignedObject extends Signed {
  readonly id: string
  /** The address of the committer or tagger. */
  readonly email: string
}

const LARGEST_OBJECT = 1024 * 1024

/** The signed objects among these ids, read at once. Objects above the size limit are skipped. */
export async function findSigned(dir: string, ids: readonly string[]): Promise<SignedObject[]> {
  if (ids.length === 0 || !(await repositoryExists(dir))) return []
  const objects = await readObjects(dir, ids, { maxBytes: LARGEST_OBJECT })
  return objects.flatMap((object) => {
    const { id = '', type, content = null } = object ?? {}
    if (content === null) return []
    if (type === 'commit') return withSigner(id, signedCommit(content), () => parseCommit(id, content).committer)
    return type === 'tag' ? withSigner(id, signedTag(content), () => parseTag(content).tagger) : []
  })
}

function withSigner(id: string, signed: Signed | null, person: () => { email: string } | null): SignedObject[] {
  return signed ? [{ ...signed, id, email: person()?.email ?? '' }] : []
}

/** A signing key, as a row of `signatures` references it. */
export interface SigningKey {
  readonly user_id: number
  readonly gpg_key_id: number | null
  readonly gpg_subkey_id: number | null
  readonly key_id: number | null
  /** Set for a PGP key. */
  readonly armored: string | null
  /** The addresses that a PGP key covers. Null for an SSH key, which covers all addresses of its owner. */
  readonly emails: readonly string[] | null
}

type NamedRecord = readonly [name: string, key: SigningKey]

type Names = readonly (string | null)[]

/** Finds keys by the names that signatures use. */
export const findSigningKeys = (db: Db, names: Names) => signingKeys(db, names, false)

/** The same keys, which no other transaction can delete until this one ends. */
export const lockSigningKeys = (db: TransactionDb, names: Names) => signingKeys(db, names, locksRows(db))

async function signingKeys(db: Db, named: Names, locks: boolean): Promise<Map<string, SigningKey>> {
  const names = [...new Set(named)].filter((name) => name !== null)
  if (names.length === 0) return new Map()
  return new Map([...(await findPgpKeys(db, names, locks)), ...(await findSshKeys(db, names, locks))])
}

/**
 * If several keys have the same name, the oldest wins, and a key wins over a subkey. The winner is last in the list.
 */
async function findPgpKeys(db: Db, names: readonly string[], locks: boolean): Promise<NamedRecord[]> {
  const keys = db
    .selectFrom('gpg_keys')
    .select(['gpg_keys.id as gpg_key_id', 'gpg_keys.user_id', 'gpg_keys.key as armored', 'gpg_keys.emails'])
    .orderBy('gpg_keys.id', 'desc')
    .$if(locks, (query) => query.forKeyShare('gpg_keys'))
  const subkeys = await keys
    .innerJoin('gpg_subkeys', 'gpg_subkeys.gpg_key_id', 'gpg_keys.id')
    .select(['gpg_subkeys.id as gpg_subkey_id', 'gpg_subkeys.keyid as name'])
    .where('gpg_subkeys.keyid', 'in', names)
    .execute()
  const primaries = await keys.select('primary_keyid as name').where('primary_keyid', 'in', names).execute()
  const all = [...subkeys, ...primaries.map((key) => ({ ...key, gpg_subkey_id: null }))]
  return all.map(({ name, emails, ...key }) => [name, { ...key, key_id: null, emails: emails.split(' ') }])
}

async function findSshKeys(db: Db, names: readonly string[], locks: boolean): Promise<NamedRecord[]> {
  const keys = await db
    .selectFrom('keys')
    .innerJoin('users', 'users.id', 'keys.user_id') // deploy keys have no user
    .select(['keys.id as key_id', 'users.id as user_id', 'fingerprint_sha256 as name'])
    .where('fingerprint_sha256', 'in', names)
    .where('usage_type', 'in', ['auth_and_signing', 'signing'])
    .$if(locks, (query) => query.forKeyShare('keys'))
    .execute()
  return keys.map(({ name, ...key }) => [
    name,
    { ...key, gpg_key_id: null, gpg_subkey_id: null, armored: null, emails: null },
  ])
}

/** A stored signature with its keys. */
export interface StoredSignature extends Pick<
  Row<'signatures'>,
  'kind' | 'status' | 'signed_by' | 'gpg_key_id' | 'gpg_subkey_id' | 'holder_name' | 'holder_email'
> {
  readonly primary_keyid: string | null
  readonly key: (Row<'keys'> & { readonly owner: string }) | null
}

export async function findStoredSignature(
  db: Db,
  projectId: number,
  objectId: string,
): Promise<StoredSignature | null> {
  const kept = await db
    .selectFrom('signatures')
    .leftJoin('gpg_keys', 'gpg_keys.id', 'signatures.gpg_key_id')
    .selectAll('signatures')
    .select('gpg_keys.primary_keyid')
    .where('project_id', '=', projectId)
    .where('object_id', '=', objectId)
    .executeTakeFirst()
  if (!kept) return null
  return { ...kept, key: kept.key_id === null ? null : await findOwnedKey(db, kept.key_id) }
}

async function findOwnedKey(db: Db, id: number): Promise<StoredSignature['key']> {
  const key = await db
    .selectFrom('keys')
    .innerJoin('users', 'users.id', 'keys.user_id')
    .selectAll('keys')
    .select('users.name as owner')
    .where('keys.id', '=', id)
    .executeTakeFirst()
  return key ?? null
}

/** The ids among these without a stored result. */
export async function findUnkept(db: Db, projectId: number, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const kept = await db
    .selectFrom('signatures')
    .select('object_id')
    .where('project_id', '=', projectId)
    .where('object_id', 'in', ids)
    .execute()
  const known = new Set(kept.map(({ object_id }) => object_id))
  return ids.filter((id) => !known.has(id))
}
