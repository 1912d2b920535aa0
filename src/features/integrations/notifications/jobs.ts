import { DAY, HOUR, after } from '../../../clock.ts'
import { job, type App, type User } from '../../../context.ts'
import type { Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { notificationEmails } from '../../planning/notification-settings/queries.ts'
import { mailable } from './audience.ts'
import { isWithinBudget } from './digests.ts'
import { framer } from './frame.ts'
import { findItem } from './items.ts'
import { writeLetter } from './letters.ts'
import type { Facts } from './model.ts'
import { SEND_MAILS, announce, type MailJob } from './service.ts'

type Waiting = Awaited<ReturnType<typeof waitingMails>>[number]

/**
 * Marks a mail as sent before it sends the mail. A crash in between loses one mail and never sends one twice. A mail
 * that the server rejects is pending again, and the job is retried.
 */
async function send(app: App, { notification, users }: MailJob, signal: AbortSignal): Promise<void> {
  const event = await app.db.selectFrom('notifications').selectAll().where('id', '=', notification).executeTakeFirst()
  const waiting = event ? await waitingMails(app, notification, users) : []
  if (!event || waiting.length === 0) return
  const facts = JSON.parse(event.facts) as Facts
  const item = await findItem(app, facts, event.project_id)
  const letter = item && (await writeLetter(app, event, item))
  const readers = letter
    ? await mailable(
        app,
        item,
        waiting.map(({ user_id }) => user_id),
        letter.internal,
      )
    : []
  await drop(app, notification, waiting, readers)
  if (!letter || readers.length === 0) return
  const [frame, emails] = await Promise.all([framer(app, letter, item), notificationEmails(app.db, readers)])
  let trouble: unknown = null
  for (const user of readers) {
    signal.throwIfAborted()
    const { reason } = waiting.find(({ user_id }) => user_id === user.id)!
    if (!(await isWithinBudget(app, event, user.id))) {
      await mark(app, notification, user.id, 'waiting', 'held')
      continue
    }
    const mail = await frame({ user, reason, email: emails.get(user.id)! })
    if (!(await mark(app, notification, user.id, 'waiting', 'sent'))) continue
    try {
      if ((await app.mail.send(mail)) === 'refused') await mark(app, notification, user.id, 'sent', 'refused')
    } catch (error) {
      await mark(app, notification, user.id, 'sent', 'waiting')
      trouble = error
      // If the server did not answer at all, the next mail would fail, too.
      if (!hasAnswered(error)) break
    }
  }
  if (trouble) throw trouble
}

/** A mail server may be slow: other jobs do not wait for it. */
export const sendMails = job<MailJob>(SEND_MAILS.name, send, { long: true })

const hasAnswered = (error: unknown) => error instanceof Error && 'responseCode' in error

const waitingMails = ({ db }: App, notification: number, users: readonly number[]) =>
  db
    .selectFrom('notification_mails')
    .select(['user_id', 'reason'])
    .where('notification_id', '=', notification)
    .where(inIdList(db, 'user_id', idList(db, users)))
    .where('state', '=', 'waiting')
    .execute()

type State = Row<'notification_mails'>['state']

async function mark({ db }: App, notification: number, user: number, from: State, to: State): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('notification_mails')
    .set({ state: to })
    .where('notification_id', '=', notification)
    .where('user_id', '=', user)
    .where('state', '=', from)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Drops the mails of users who may no longer read the item. */
async function drop(
  { db }: App,
  notification: number,
  waiting: readonly Waiting[],
  readers: readonly User[],
): Promise<void> {
  const gone = waiting.map(({ user_id }) => user_id).filter((id) => !readers.some((reader) => reader.id === id))
  if (gone.length === 0) return
  await db
    .updateTable('notification_mails')
    .set({ state: 'dropped' })
    .where('notification_id', '=', notification)
    .where(inIdList(db, 'user_id', idList(db, gone)))
    .where('state', '=', 'waiting')
    .execute()
}

/** Longer than any job is retried. */
const KEPT_FOR = 30 * DAY

export const forgetNotifications = job(
  'notifications.forget',
  async (app) => {
    await app.db.deleteFrom('notifications').where('created_at', '<', after(app.clock, -KEPT_FOR)).execute()
  },
  { every: DAY },
)

const ISSUES_AT_ONCE = 100

/** For open issues that are due tomorrow. */
export const remindOfDueIssues = job(
  'notifications.due_issues',
  async (app, _payload, signal) => {
    const due_date = after(app.clock, DAY).slice(0, 10)
    for (let last = 0; ;) {
      const due = await app.db
        .selectFrom('issues')
        .select('id')
        .where('state', '=', 'opened')
        .where('due_date', '=', due_date)
        .where('id', '>', last)
        .orderBy('id')
        .limit(ISSUES_AT_ONCE)
        .execute()
      if (due.length === 0) return
      for (const { id } of due) {
        signal.throwIfAborted()
        const facts = { issue: id }
        const item = await findItem(app, facts)
        if (!item) continue
        const ids = await item.participants(app)
        await announce(app, item, {
          kind: 'issue_due',
          source: `issue ${id} is due on ${due_date}`,
          facts,
          by: null,
          reached: [{ ids, way: 'participating', reason: 'participating', event: 'issue_due' }],
          watched: ['issue_due'],
        })
      }
      last = due.at(-1)!.id
    }
  },
  { every: 6 * HOUR },
)
