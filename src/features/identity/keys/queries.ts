import { z } from 'zod'
import { child, resource } from '../../../api/endpoint.ts'
import type { Page, PageRequest } from '../../../api/pages.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import type { Db, Row } from '../../../store/database.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import type { UserScope } from '../user-scopes.ts'
import { findUser, loadUser } from '../users/queries.ts'
import type { KeyWithUser } from './entity.ts'
import { anyKeyPolicy } from './policy.ts'

export const key = ({ resource }: UserScope) =>
  child(resource, {
    name: 'Key',
    key: 'key',
    params: { key_id: id },
    find: (app, { owner }, { key_id }) => keysOf(app.db, owner).where('id', '=', key_id).executeTakeFirst(),
  })

const keysOf = (db: Db, { id }: User) => db.selectFrom('keys').selectAll().where('user_id', '=', id)

export const listKeys = (db: Db, owner: User, page: PageRequest): Promise<Page<Row<'keys'>>> =>
  pageOfQuery(keysOf(db, owner).orderBy('id', 'desc'), page)

/** `/keys/:id`: any key of the instance, deploy keys included. */
export const anyKey = resource({
  params: z.object({ id }),
  policy: anyKeyPolicy,
  async find(app, { id }, viewer) {
    const key = await app.db.selectFrom('keys').selectAll().where('id', '=', id).executeTakeFirst()
    return key && { key, viewer }
  },
})

const MOST_DEPLOYMENTS = 100

const MD5 = /^(?:MD5:)?((?:[0-9a-f]{2}:){15}[0-9a-f]{2})$/i
const SHA256 = /^SHA256:([A-Za-z0-9+/]{43})=?$/i

export type Fingerprint = { fingerprint: string } | { fingerprint_sha256: string }

/** Reads either fingerprint form that ssh-keygen prints; null if the text is neither. */
export function readFingerprint(text: string): Fingerprint | null {
  const md5 = MD5.exec(text)?.[1]
  if (md5) return { fingerprint: md5.toLowerCase() }
  const sha256 = SHA256.exec(text)?.[1]
  return sha256 ? { fingerprint_sha256: `SHA256:${sha256}` } : null
}

export async function findKeyByFingerprint(db: Db, fingerprint: Fingerprint): Promise<Row<'keys'> | null> {
  const found = await db
    .selectFrom('keys')
    .selectAll()
    .where((eb) => eb.and(fingerprint))
    .executeTakeFirst()
  return found ?? null
}

/** The projects where a deploy key is enabled. */
export const deploymentsOf = (db: Db, key: Row<'keys'>): Promise<Row<'deploy_key_projects'>[]> =>
  db
    .selectFrom('deploy_key_projects')
    .selectAll()
    .where('key_id', '=', key.id)
    .orderBy('id')
    .limit(MOST_DEPLOYMENTS)
    .execute()

export async function loadKeyWithUser(db: Db, key: Row<'keys'>): Promise<KeyWithUser> {
  const user = key.user_id === null ? null : await findUser(db, key.user_id)
  return { ...key, user: user && (await loadUser(db, user)) }
}
