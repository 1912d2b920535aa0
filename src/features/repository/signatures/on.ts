import { on, type App } from '../../../context.ts'
import type { Subscription } from '../../../jobs/worker.ts'
import { keyIdsOf } from '../../identity/gpg-keys/queries.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { isNewTip } from '../gate/updates.ts'
import { disown, keepPushed, recheckOwnedBy, recheckSignedBy } from './service.ts'

const checkPushed = on(
  'repository.changed',
  'signatures',
  async (app, { project_id, updates }) => {
    const project = await findProjectById(app.db, project_id)
    if (project) await keepPushed(app, project, updates)
  },
  { when: ({ wiki, updates, unsigned = false }) => !wiki && !unsigned && updates.some(isNewTip) },
)

const gpgKeyAdded = on('gpg_key.created', 'signatures', async (app, { id }) => {
  const key = await app.db.selectFrom('gpg_keys').selectAll().where('id', '=', id).executeTakeFirst()
  if (key) await recheckSignedBy(app, await keyIdsOf(app.db, key))
})

const gpgKeyRevoked = on('gpg_key.deleted', 'signatures', (app, { keyids }) => disown(app, keyids), {
  when: ({ revoked }) => revoked,
})

const keyAdded = on('key.created', 'signatures', async (app, { id }) => {
  const key = await app.db.selectFrom('keys').select('fingerprint_sha256').where('id', '=', id).executeTakeFirst()
  if (key) await recheckSignedBy(app, [key.fingerprint_sha256])
})

const emailConfirmed = on('email.confirmed', 'signatures', (app, { user_id }) => recheckOwnedBy(app, user_id))
const emailDeleted = on('email.deleted', 'signatures', (app, { user_id }) => recheckOwnedBy(app, user_id))
/** The primary address may have changed, or may have been confirmed. */
const userChanged = on('user.updated', 'signatures', (app, { id }) => recheckOwnedBy(app, id), {
  when: ({ readdressed = false }) => readdressed,
})

/** Long jobs: each may check thousands of signatures. */
export const reactions: Subscription<App>[] = [
  checkPushed,
  gpgKeyAdded,
  gpgKeyRevoked,
  keyAdded,
  emailConfirmed,
  emailDeleted,
  userChanged,
].map((reaction) => ({ ...reaction, long: true }))
