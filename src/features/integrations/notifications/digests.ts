/**
 * Limits mails per hour, by author and by recipient. Notifications above a limit are collected into one digest mail per
 * recipient. They stay in the store until the mail server has accepted the digest, so a crash loses none.
 */
import { HOUR, MINUTE } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { oneLine, type Mail } from '../../../mail/compose.ts'
import { countWithin } from '../../identity/throttling/throttle.ts'
import { notificationEmails } from '../../planning/notification-settings/queries.ts'
import { mailable } from './audience.ts'
import { findItem } from './items.ts'
import { writeLetter } from './letters.ts'
import type { Facts, Notification } from './model.ts'
import * as t from './texts.ts'

/** Per hour: by one author, from one author to one recipient, and to one recipient. */
const MOST_BY_ONE = 1000
const MOST_OF_A_PAIR = 30
const MOST_TO_ONE = 100

/** Counts the mail. True: it goes out by itself, not in a digest. */
export async function isWithinBudget(app: App, { by_id }: Notification, user: number): Promise<boolean> {
  const counts: [key: string, most: number][] = [
    [`news to ${user}`, MOST_TO_ONE],
    ...(by_id === null
      ? []
      : [
          [`news by ${by_id} to ${user}`, MOST_OF_A_PAIR] as [string, number],
          [`news by ${by_id}`, MOST_BY_ONE] as [string, number],
        ]),
  ]
  for (const [key, most] of counts) if ((await countWithin(app, key, HOUR)) > most) return false
  return true
}

const EVERY = 10 * MINUTE
const PEOPLE_AT_ONCE = 100
/** The maximum number of entries in one mail; the next mail lists the rest. */
const MOST_LISTED = 200
const MOST_LINE = 300

export const sendDigests = job(
  'notifications.digests',
  async (app, _payload, signal) => {
    for (let last = 0; ;) {
      const people = await app.db
        .selectFrom('notification_mails')
        .select('user_id')
        .distinct()
        .where('state', '=', 'held')
        .where('user_id', '>', last)
        .orderBy('user_id')
        .limit(PEOPLE_AT_ONCE)
        .execute()
      if (people.length === 0) return
      for (const { user_id } of people) await sendDigest(app, user_id, signal)
      last = people.at(-1)!.user_id
    }
  },
  { every: EVERY, long: true },
)

async function sendDigest(app: App, user: number, signal: AbortSignal): Promise<void> {
  const held = await app.db
    .selectFrom('notification_mails')
    .innerJoin('notifications', 'notifications.id', 'notification_mails.notification_id')
    .selectAll('notifications')
    .where('notification_mails.user_id', '=', user)
    .where('state', '=', 'held')
    .orderBy('notifications.id')
    .limit(MOST_LISTED)
    .execute()
  const lines: string[] = []
  let email: string | null = null
  for (const event of held) {
    signal.throwIfAborted()
    const item = await findItem(app, JSON.parse(event.facts) as Facts, event.project_id)
    const letter = item && (await writeLetter(app, event, item))
    // A user who may no longer read the item gets no line about it.
    const [reader] = letter ? await mailable(app, item, [user], letter.internal) : []
    if (!letter || !reader) continue
    email ??= (await notificationEmails(app.db, [reader])).get(user) ?? null
    lines.push(`${oneLine(`${letter.subject}: ${letter.opening}`, MOST_LINE)}\n${letter.url}`)
  }
  if (email !== null) await app.mail.send(digestMail(app, email, lines))
  await app.db
    .updateTable('notification_mails')
    .set({ state: email === null ? 'dropped' : 'sent' })
    .where('user_id', '=', user)
    .where('state', '=', 'held')
    .where(
      'notification_id',
      'in',
      held.map(({ id }) => id),
    )
    .execute()
}

const digestMail = ({ url }: App, to: string, lines: readonly string[]): Mail => ({
  to,
  subject: t.digestSubject(lines.length),
  text: [t.digestOpening, ...lines, `-- \n${t.digestFooter(url)}`].join('\n\n'),
})
