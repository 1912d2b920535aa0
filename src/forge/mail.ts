import type { Mail } from '../mail/mailer.ts'
import type { ForgeMail } from './types.ts'

const MOST_KEPT = 10_000

/** The mails that a forge has sent. */
export class MailLog {
  #mails: ForgeMail[] = []

  add(mail: Mail): void {
    this.#mails.push(sentMail(mail))
    if (this.#mails.length === 2 * MOST_KEPT) this.#mails = this.list()
  }

  list(): ForgeMail[] {
    return this.#mails.slice(-MOST_KEPT)
  }

  clear(): void {
    this.#mails = []
  }
}

const bracketed = (ids: readonly string[]) => ids.map((id) => `<${id}>`).join(' ')

function sentMail({ to, subject, text, html, messageId, inReplyTo, references, headers = {} }: Mail): ForgeMail {
  const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  const thread = {
    ...(messageId !== undefined && { 'message-id': bracketed([messageId]) }),
    ...(inReplyTo !== undefined && { 'in-reply-to': bracketed([inReplyTo]) }),
    ...(references && { references: bracketed(references) }),
  }
  return { to, subject, text, html: html ?? null, headers: { ...Object.fromEntries(own), ...thread } }
}
