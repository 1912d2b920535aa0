/**
 * Rate limits on mail that users cause, per sender and per recipient. They prevent the server from being used to flood
 * a mailbox.
 */
import { join } from 'node:path'
import { DAY, HOUR } from '../../clock.ts'
import { job, type App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Mail } from '../../mail/compose.ts'
import { sweepMails } from '../../mail/mailer.ts'
import { countWithin } from './throttling/throttle.ts'

/** Per hour and sender; enough to invite a team. */
const MOST_BY_ONE = 100
const MOST_TO_ONE = 10
/** Recipients of an integration's mails about pushes and pipelines have not always asked for them. */
const MOST_BY_SERVICES = 100

interface Cause {
  /** Each kind has its own count, so that mails of one kind cannot block another kind. */
  readonly kind:
    | 'invitation'
    | 'confirmation'
    | 'password'
    | 'membership'
    | 'access request'
    | 'service'
    | 'registration'
    | 'approval'
  /** Who causes the mail, if that is limited too: a user id, or the network of a visitor without an account. */
  readonly by?: number | string
  readonly to: string
}

/** Counts the mail and resolves to whether it may be sent. */
export async function mayMail(app: App, { kind, by, to }: Cause): Promise<boolean> {
  if (by !== undefined && (await countWithin(app, `mail by ${by}`, HOUR)) > MOST_BY_ONE) return false
  const most = kind === 'service' ? MOST_BY_SERVICES : MOST_TO_ONE
  return (await countWithin(app, `mail ${kind} to ${to}`, HOUR)) <= most
}

/** Call it in the transaction of the change that causes the mail: both are rolled back together. */
export async function assertMayMail(app: App, cause: Cause): Promise<void> {
  if (await mayMail(app, cause)) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(HOUR / 1000) } })
}

export const sendMail = job<Mail>('mail.send', async (app, mail) => {
  await app.mail.send(mail)
})

/**
 * Queues one mail of several, so that each is retried alone. The text is stored in the queue, so it must contain no
 * secret.
 */
export const mailLater = (app: App, mail: Mail): Promise<void> => enqueue(app, sendMail, mail)

const KEPT_FOR = 30 * DAY

/** Deletes old mails that were written to files because no mail server is configured. */
export const dropOldMails = job(
  'mail.drop_old',
  ({ config, clock }) => sweepMails(join(config.data, 'mail'), new Date(clock.now().getTime() - KEPT_FOR)),
  { every: DAY },
)
