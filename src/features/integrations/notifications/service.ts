import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { enqueueAll } from '../../../jobs/queue.ts'
import { batchesOf } from '../../../lib/async/batches.ts'
import { transact } from '../../../store/transact.ts'
import { nameMailedSource } from '../../access/members/queries.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { recipientsOf, type Reach } from './audience.ts'
import type { Item } from './items.ts'
import type { Reason } from './levels.ts'
import type { Facts, Kind } from './model.ts'

export interface Notification extends Reach {
  readonly kind: Kind
  /** A unique key of the event: a repeated event mails nobody twice. */
  readonly source: string
  readonly facts: Facts
}

/** Recipients per transaction. */
const AT_ONCE = 500
/** Mails per job. */
const A_JOB = 20

export const SEND_MAILS = { name: 'notifications.mail' }

export interface MailJob {
  readonly notification: number
  readonly users: readonly number[]
}

/** Queues mails for all recipients. */
export async function announce(app: App, item: Item, event: Notification): Promise<void> {
  const people = [...(await recipientsOf(app, item, event))]
  if (people.length === 0 || !(await isMailed(app, item))) return
  const notification = await storeUpdates(app, item, event)
  for (const some of batchesOf(people, AT_ONCE)) await queueMails(app, notification, some)
}

async function isMailed(app: App, { project }: Item): Promise<boolean> {
  if ((await currentSettings(app)).silent_mode_enabled) return false
  return (await nameMailedSource(app, { project_id: project.id, group_id: null })) !== null
}

async function storeUpdates(app: App, { project }: Item, { source, kind, by, facts }: Notification): Promise<number> {
  const row = { source, kind, project_id: project.id, facts: JSON.stringify(facts), created_at: timestamp(app.clock) }
  const added = await app.db
    .insertInto('notifications')
    // The author may be deleted.
    .values((eb) => ({ ...row, by_id: by && eb.selectFrom('users').select('id').where('id', '=', by) }))
    .onConflict((c) => c.column('source').doNothing())
    .returning('id')
    .executeTakeFirst()
  const kept =
    added ?? (await app.db.selectFrom('notifications').select('id').where('source', '=', source).executeTakeFirst())
  return kept!.id
}

/** Recipients that already have a row also have a job, or had one. */
async function queueMails(
  app: App,
  notification_id: number,
  people: readonly (readonly [number, Reason])[],
): Promise<void> {
  await transact(app, async (app) => {
    const added = await app.db
      .insertInto('notification_mails')
      .values(people.map(([user_id, reason]) => ({ notification_id, user_id, reason, state: 'waiting' as const })))
      .onConflict((c) => c.doNothing())
      .returning('user_id')
      .execute()
    const ids = added.map(({ user_id }) => user_id)
    const mailJobs = [...batchesOf(ids, A_JOB)].map((users): MailJob => ({ notification: notification_id, users }))
    await enqueueAll(app, SEND_MAILS, mailJobs)
  })
}
