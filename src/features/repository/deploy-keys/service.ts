import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp, User } from '../../../context.ts'
import { forbidden, invalid, notFound, taken } from '../../../errors.ts'
import { parseSshPublicKey } from '../../../lib/crypto/ssh-key.ts'
import type { Row } from '../../../store/database.ts'
import { lockName } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { findKeyByFingerprint } from '../../identity/keys/queries.ts'
import { createDeployKey, removeUnusedDeployKeys, renameKey } from '../../identity/keys/service.ts'
import { titleFaults } from '../../identity/keys/validation.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { forgetDeployKey } from '../protected-branches/service.ts'
import type { EnabledKey } from './model.ts'
import { mayRename } from './policy.ts'
import { findAnyDeployKey, findEnabledKey, isWithinReach } from './queries.ts'

export interface NewDeployKey {
  title: string
  key: string
  can_push?: boolean | null
  expires_at?: string | null
}

/** Creates a key that every project may enable. */
export async function createPublicDeployKey(app: App, actor: User, input: NewDeployKey): Promise<Row<'keys'>> {
  const settings = await currentSettings(app)
  return createDeployKey(app, actor, input, { settings, public: true })
}

/** If the key already exists and the actor may see it, enables the existing key. */
export async function addDeployKey(
  app: App,
  actor: User,
  { id: project }: Project,
  input: NewDeployKey,
): Promise<EnabledKey> {
  const settings = await currentSettings(app)
  const fingerprint = parseSshPublicKey(input.key)?.md5
  return transact(app, async (app) => {
    if (fingerprint) await lockKey(app, fingerprint)
    const known = fingerprint ? await findKeyByFingerprint(app.db, { fingerprint }) : null
    if (known) {
      const enabled = await findEnabledKey(app.db, project, known.id)
      if (enabled) return enabled
      if (known.kind !== 'deploy' || !(await isWithinReach(app.db, actor, known))) throw taken('fingerprint')
    }
    const key = known ?? (await createDeployKey(app, actor, input, { settings, public: false }))
    return link(app, project, key, input.can_push ?? false)
  })
}

/** Locks the key: until the transaction ends, no other request adds, enables or removes it. */
const lockKey = (app: TransactionApp, fingerprint: string) => lockName(app.db, `deploy key ${fingerprint}`)

async function link(app: App, project: number, key: Row<'keys'>, can_push: boolean): Promise<EnabledKey> {
  const now = timestamp(app.clock)
  await app.db
    .insertInto('deploy_key_projects')
    .values({ key_id: key.id, project_id: project, can_push, created_at: now, updated_at: now })
    .onConflict((c) => c.columns(['project_id', 'key_id']).doNothing())
    .execute()
  return (await findEnabledKey(app.db, project, key.id))!
}

/** Enables an existing key with read access. An already enabled key does not change. */
export async function enableDeployKey(app: App, actor: User, project: Project, id: number): Promise<EnabledKey> {
  return transact(app, async (app) => {
    const known = await findAnyDeployKey(app.db, id)
    if (known) await lockKey(app, known.fingerprint)
    const key = known && (await findAnyDeployKey(app.db, id)) // again: it may be deleted now
    if (!key || !(await isWithinReach(app.db, actor, key))) throw notFound('Deploy Key')
    return link(app, project.id, key, false)
  })
}

export async function updateDeployKey(
  app: App,
  actor: User,
  { id: project }: Project,
  key: EnabledKey,
  { title, can_push }: { title?: string | null | undefined; can_push?: boolean | null | undefined },
): Promise<EnabledKey> {
  const renamed = typeof title === 'string' && title !== key.title
  if (renamed && !mayRename(actor, key)) throw forbidden()
  const faults = renamed ? titleFaults(title) : []
  if (faults.length > 0) throw invalid({ title: faults })
  const updated_at = timestamp(app.clock)
  return transact(app, async (app) => {
    if (renamed) await renameKey(app, key, title)
    if (typeof can_push === 'boolean') {
      await app.db
        .updateTable('deploy_key_projects')
        .set({ can_push, updated_at })
        .where('key_id', '=', key.id)
        .where('project_id', '=', project)
        .execute()
    }
    const updated = await findEnabledKey(app.db, project, key.id)
    if (!updated) throw notFound() // a concurrent request deleted the row
    return updated
  })
}

export async function removeDeployKey(app: App, { id: project }: Project, key: EnabledKey): Promise<void> {
  await transact(app, async (app) => {
    await lockKey(app, key.fingerprint)
    const { numDeletedRows } = await app.db
      .deleteFrom('deploy_key_projects')
      .where('key_id', '=', key.id)
      .where('project_id', '=', project)
      .executeTakeFirst()
    if (numDeletedRows === 0n) throw notFound('Deploy Key') // a concurrent request deleted the row
    await forgetDeployKey(app, project, key.id)
    await removeUnusedDeployKeys(app, key)
  })
}

/** Disables the keys of a deleted project, so that an unused key can be added again. Idempotent. */
export async function releaseDeployKeys(app: App, project: number): Promise<void> {
  await transact(app, async (app) => {
    const keys = await app.db
      .selectFrom('deploy_key_projects as link')
      .innerJoin('keys as k', 'k.id', 'link.key_id')
      .select('k.fingerprint')
      .where('link.project_id', '=', project)
      .orderBy('k.fingerprint') // a fixed order of locks prevents deadlocks between concurrent deletions
      .execute()
    for (const { fingerprint } of keys) await lockKey(app, fingerprint)
    await app.db.deleteFrom('deploy_key_projects').where('project_id', '=', project).execute()
    // Covers all projects: if a project's row was deleted first, its links were deleted with it.
    await removeUnusedDeployKeys(app)
  })
}
