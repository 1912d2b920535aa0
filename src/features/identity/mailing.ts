/** Mail that somebody causes is counted, by who causes it and by who gets it: a forge is no means to flood a mailbox. */
import { join } from 'node:path'
import { DAY, HOUR } from '../../clock.ts'
import { job, type App } from '../../context.ts'
import { Refusal } from '../../errors.ts'
import { enqueue } from '../../jobs/queue.ts'
import type { Mail } from '../../mail/compose.ts'
import { sweepMails } from '../../mail/mailer.ts'
import { countWithin } from './sessions/throttle.ts'

/** Enough to invite a team. */
const MOST_BY_ONE = 100
const MOST_TO_ONE = 10
/** Whom a service tells of pushes and pipelines has not always asked for it. */
const MOST_BY_SERVICES = 100

interface Cause {
  /** Each has a count of its own, or one could be used up to hold back another. */
  readonly kind:
    | 'invitation'
    | 'confirmation'
    | 'password'
    | 'membership'
    | 'access request'
    | 'service'
    | 'registration'
    | 'approval'
  /** Whose doing it is, where that is limited too: an account, or a network of which nobody has one yet. */
  readonly by?: number | string
  readonly to: string
}

/** Counts the mail, and says whether it may go out. */
export async function mayMail(app: App, { kind, by, to }: Cause): Promise<boolean> {
  if (by !== undefined && (await countWithin(app, `mail by ${by}`, HOUR)) > MOST_BY_ONE) return false
  const most = kind === 'service' ? MOST_BY_SERVICES : MOST_TO_ONE
  return (await countWithin(app, `mail ${kind} to ${to}`, HOUR)) <= most
}

/** In the transaction of what causes the mail, which is refused with it. */
export async function assertMayMail(app: App, cause: Cause): Promise<void> {
  if (await mayMail(app, cause)) return
  throw new Refusal('throttled', undefined, { headers: { 'Retry-After': String(HOUR / 1000) } })
}

export const sendMail = job<Mail>('mail.send', async (app, mail) => {
  await app.mail.send(mail)
})

/** One of several: each is tried again alone. Its text stands in the queue, so it holds no secret. */
export const mailLater = (app: App, mail: Mail): Promise<void> => enqueue(app, sendMail, mail)

const KEPT_FOR = 30 * DAY

/** Of mails that became files, where there is no server. */
export const dropOldMails = job(
  'mail.drop_old',
  ({ config, clock }) => sweepMails(join(config.data, 'mail'), new Date(clock.now().getTime() - KEPT_FOR)),
  { every: DAY },
)
