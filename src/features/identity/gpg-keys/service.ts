import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { invalid, notFound, taken, type Refusal } from '../../../errors.ts'
import { BLANK } from '../../../lib/text/faults.ts'
import { looksLikePgpBlock, parsePgpPublicKey, type PgpPublicKey } from './pgp-key.ts'
import type { Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { emit } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { confirmedEmails } from '../emails/queries.ts'
import { keyIdsOf } from './queries.ts'

export async function createGpgKey(app: App, owner: User, input: { key: string }): Promise<Row<'gpg_keys'>> {
  const parsed = await readGpgKey(input.key)
  const created = transact(app, async (app) => {
    await dropUnprovenClaim(app, owner, parsed)
    const now = timestamp(app.clock)
    const key = await app.db
      .insertInto('gpg_keys')
      .values({
        user_id: owner.id,
        key: parsed.armored,
        fingerprint: parsed.fingerprint,
        primary_keyid: parsed.keyId,
        emails: parsed.emails.join(' '),
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    const subkeys = parsed.subkeys.map(({ fingerprint, keyId }) => ({
      gpg_key_id: key.id,
      fingerprint,
      keyid: keyId,
    }))
    if (subkeys.length > 0) await app.db.insertInto('gpg_subkeys').values(subkeys).execute()
    await emit(app, 'gpg_key.created', { id: key.id, user_id: owner.id })
    return key
  })
  return unlessTaken(created, 'gpg_keys', [['fingerprint']], () => duplicate(app, parsed))
}

/**
 * Anybody can copy a public key. A key that no confirmed address of its current owner vouches for is removed in favour
 * of a new owner whose address does.
 */
async function dropUnprovenClaim(
  app: TransactionApp,
  owner: User,
  { fingerprint, emails }: PgpPublicKey,
): Promise<void> {
  await lockName(app.db, `gpg key ${fingerprint}`)
  const existing = await app.db
    .selectFrom('gpg_keys')
    .selectAll()
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  if (!existing || existing.user_id === owner.id) return
  const confirmed = await confirmedEmails(app.db, [owner.id, existing.user_id])
  const vouches = (user: number) => emails.some((email) => confirmed.get(user)!.has(email.toLowerCase()))
  if (vouches(owner.id) && !vouches(existing.user_id)) {
    await deleteGpgKey(app, { id: existing.user_id }, existing, { revoked: false })
  }
}

/** Subkeys are deleted with the row. */
export async function deleteGpgKey(
  app: App,
  owner: Pick<User, 'id'>,
  key: Row<'gpg_keys'>,
  { revoked }: { revoked: boolean },
): Promise<void> {
  const { id } = key
  await transact(app, async (app) => {
    const keyids = await keyIdsOf(app.db, key)
    const { numDeletedRows } = await app.db.deleteFrom('gpg_keys').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('GPG Key') // deleted in the meantime
    await emit(app, 'gpg_key.deleted', { id, user_id: owner.id, revoked, keyids })
  })
}

const NO_BLOCK =
  "is invalid. A valid public GPG key begins with '-----BEGIN PGP PUBLIC KEY BLOCK-----' " +
  "and ends with '-----END PGP PUBLIC KEY BLOCK-----'"

async function readGpgKey(text: string): Promise<PgpPublicKey> {
  const isOneBlock = looksLikePgpBlock(text) && text.split('-----').length === 5
  if (!isOneBlock) throw invalid({ key: [NO_BLOCK] })
  const parsed = await parsePgpPublicKey(text)
  if (!parsed) throw invalid({ fingerprint: [BLANK], primary_keyid: [BLANK] })
  return parsed
}

/** A conflict: the same text, or another export of the same key, exists already. */
async function duplicate(app: App, { armored, fingerprint }: PgpPublicKey): Promise<Refusal> {
  const known = await app.db
    .selectFrom('gpg_keys')
    .select('key')
    .where('fingerprint', '=', fingerprint)
    .executeTakeFirst()
  return known?.key === armored ? taken('key') : taken('fingerprint', 'primary_keyid')
}
