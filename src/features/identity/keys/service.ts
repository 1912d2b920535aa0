import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { invalid, notFound, taken } from '../../../errors.ts'
import type { NewRow, Row } from '../../../store/database.ts'
import { emit, emitAll } from '../../../store/outbox.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import type { Settings } from '../../instance/settings/model.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { UsageType } from './model.ts'
import { readKey } from './validation.ts'

export interface NewKey {
  title: string
  key: string
  expires_at?: string | null
  usage_type?: UsageType | null
}

export async function createKey(app: App, owner: User, input: NewKey): Promise<Row<'keys'>> {
  const settings = await currentSettings(app)
  return transact(app, async (app) => {
    const key = await insertKey(app, input, settings, { user_id: owner.id, kind: 'user' }, ['fingerprint', 'key'])
    await emit(app, 'key.created', { id: key.id, user_id: owner.id })
    return key
  })
}

/** A deploy key gives access to projects, not to an account. */
export const createDeployKey = (
  app: App,
  actor: User,
  input: NewKey,
  { settings, ...more }: { settings: Settings; public: boolean },
): Promise<Row<'keys'>> =>
  transact(app, async (app) => {
    const holder = { user_id: null, kind: 'deploy', creator_id: actor.id, ...more } as const
    const key = await insertKey(app, input, settings, holder, ['fingerprint'])
    await emit(app, 'deploy_key.created', { id: key.id })
    return key
  })

/** A key belongs to one account or is a deploy key. The same key cannot be stored twice. */
async function insertKey(
  app: App,
  input: NewKey,
  settings: Settings,
  holder: Pick<NewRow<'keys'>, 'user_id' | 'kind' | 'public' | 'creator_id'>,
  identifying: readonly string[],
): Promise<Row<'keys'>> {
  const parsed = readKey(input, settings)
  const now = timestamp(app.clock)
  if (input.expires_at && input.expires_at <= now) throw invalid({ key: ['has expired'] })
  const inserted = app.db
    .insertInto('keys')
    .values({
      ...holder,
      title: input.title,
      key: parsed.text,
      fingerprint: parsed.md5,
      fingerprint_sha256: parsed.sha256,
      usage_type: input.usage_type ?? 'auth_and_signing',
      expires_at: input.expires_at ?? null,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return unlessTaken(inserted, 'keys', [['fingerprint']], () => taken(...identifying))
}

export async function renameKey(app: App, { id }: Row<'keys'>, title: string): Promise<void> {
  await app.db
    .updateTable('keys')
    .set({ title, updated_at: timestamp(app.clock) })
    .where('id', '=', id)
    .execute()
}

/** Deletes private deploy keys that no project uses: the given one, or all. */
export async function removeUnusedDeployKeys(app: App, key?: Row<'keys'>): Promise<void> {
  await transact(app, async (app) => {
    const gone = await unusedDeployKeys(app, key).returning(['id', 'key', 'created_at', 'updated_at']).execute()
    await emitAll(app, 'deploy_key.deleted', gone)
  })
}

const unusedDeployKeys = ({ db }: App, key?: Row<'keys'>) =>
  db
    .deleteFrom('keys')
    .$if(key !== undefined, (query) => query.where('keys.id', '=', key!.id))
    .where('kind', '=', 'deploy')
    .where('public', '=', false)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('deploy_key_projects as link').select('link.id').whereRef('link.key_id', '=', 'keys.id'))),
    )

export async function deleteKey(
  app: App,
  owner: User,
  { id, key, created_at, updated_at }: Row<'keys'>,
): Promise<void> {
  await transact(app, async (app) => {
    const { numDeletedRows } = await app.db.deleteFrom('keys').where('id', '=', id).executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Key') // deleted in the meantime
    await emit(app, 'key.deleted', { id, user_id: owner.id, key, created_at, updated_at })
  })
}
