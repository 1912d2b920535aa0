/** Composes every mail. User texts in a header become one line, and the recipient is exactly one address. */
import type { SendMailOptions } from 'nodemailer'

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html?: string
  /** The display name of the sender. */
  readonly fromName?: string
  /** Replaces the sender's address. The caller has made sure that this server may use it. */
  readonly from?: string
  /** Message ids without brackets. */
  readonly messageId?: string
  readonly inReplyTo?: string
  readonly references?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
}

/** This instance as a sender. */
export interface Sender {
  readonly address: string
  /** A mailbox that nobody reads. */
  readonly replyTo: string
}

/** The address is invalid: no retry can succeed. */
export class BadAddress extends Error {}

const MOST_SUBJECT = 300
const MOST_NAME = 100
const MOST_HEADER = 900
const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]+/gu

/** Removes line breaks and characters that change the text direction, and limits the length. */
export function oneLine(text: string, most: number): string {
  const line = text.replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim()
  const letters = Array.from(line.slice(0, 2 * most + 2))
  return letters.length > most ? `${letters.slice(0, most - 1).join('')}…` : line
}

/** An SMTP address without quotes; a quoted one could contain anything. */
const ADDRESS = /^[^\s@<>(),:;"[\]\\\p{Cc}]{1,64}@(?:[^\s@<>(),:;"[\]\\\p{Cc}]{1,255}|\[[\d.:A-Fa-f]+\])$/u

export const isMailAddress = (text: string): boolean => text.length <= 320 && ADDRESS.test(text)

function address(text: string): string {
  if (!isMailAddress(text)) throw new BadAddress('this is not an address that mail can be sent to')
  return text
}

export function composeMail(mail: Mail, sender: Sender): SendMailOptions {
  const to = address(mail.to)
  const from = address(mail.from ?? sender.address)
  return {
    // Addresses as objects: a string could be parsed as two addresses.
    from: { name: oneLine(mail.fromName ?? '', MOST_NAME), address: from },
    to: { name: '', address: to },
    replyTo: { name: '', address: sender.replyTo },
    envelope: { from: sender.address, to: [to] },
    subject: oneLine(mail.subject, MOST_SUBJECT),
    text: mail.text,
    ...(mail.html !== undefined && { html: mail.html }),
    ...(mail.messageId !== undefined && { messageId: messageId(mail.messageId) }),
    ...(mail.inReplyTo !== undefined && { inReplyTo: messageId(mail.inReplyTo) }),
    ...(mail.references?.length && { references: mail.references.map(messageId) }),
    headers: headersOf(mail.headers ?? {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  }
}

/** Tells other mail systems not to reply automatically. */
const ALWAYS = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

function headersOf(given: Readonly<Record<string, string>>): Record<string, string> {
  const headers: Record<string, string> = { ...ALWAYS }
  for (const [name, value] of Object.entries(given)) {
    if (!/^[A-Za-z][A-Za-z0-9-]{0,63}$/.test(name)) throw new Error(`${name} is no name of a header`)
    headers[name] = oneLine(value, MOST_HEADER)
  }
  return headers
}

function messageId(id: string): string {
  if (!/^[\w.!#$%&'*+/=?^`{|}~-]+@[\w.-]+$/.test(id)) throw new Error(`${id} is no id of a message`)
  return `<${id}>`
}
