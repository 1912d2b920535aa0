/** Outgoing mail. Without a mail server each mail becomes a file in the data folder, and the log names the file. */
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readOnlyInstance } from '../errors.ts'
import { nullIfMissing } from '../lib/files/system-errors.ts'
import type { Log } from '../log.ts'
import { BadAddress, composeMail, type Mail, type Sender } from './compose.ts'

export type { Mail, Sender } from './compose.ts'

/** `refused` is permanent. A temporary failure is thrown. */
export type Sent = 'sent' | 'refused'

export interface Mailer {
  send(mail: Mail): Promise<Sent>
  /** Finishes mails under way. */
  close(): void
}

/** Calls `seen` for each mail that was sent. */
export const watchedMailer = (mailer: Mailer, seen: (mail: Mail) => void): Mailer => ({
  ...mailer,
  async send(mail) {
    const sent = await mailer.send(mail)
    if (sent === 'sent') seen(mail)
    return sent
  },
})

/** Sends nothing, for read-only mode. */
export const quietMailer: Mailer = { send: () => Promise.reject(readOnlyInstance()), close() {} }

const TIMEOUT = 30_000

/** Mails share a few connections, which the first mail opens. */
export function smtpMailer(url: string, sender: Sender, log: Log): Mailer {
  let pool: ReturnType<typeof open> | null = null
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({
      url,
      pool: true,
      maxConnections: 2,
      maxMessages: 100,
      // The caller decides about a retry: the mail may have arrived.
      maxRequeues: 0,
      idleTimeout: TIMEOUT,
      connectionTimeout: TIMEOUT,
      greetingTimeout: TIMEOUT,
      socketTimeout: 2 * TIMEOUT,
    })
  }
  return {
    async send(mail) {
      return orRefused(log, mail, async () => {
        const options = composeMail(mail, sender)
        await (await (pool ??= open())).sendMail(options)
      })
    },
    close() {
      void pool?.then((transporter) => transporter.close())
      pool = null
    },
  }
}

/** The text contains secret links: it goes to a file only the owner can read, never to the log. */
export function folderMailer(folder: string, sender: Sender, log: Log): Mailer {
  return {
    async send(mail) {
      return orRefused(log, mail, async () => {
        const { createTransport } = await import('nodemailer')
        const composer = createTransport({ streamTransport: true, buffer: true, newline: 'unix' })
        const { message } = await composer.sendMail(composeMail(mail, sender))
        await mkdir(folder, { recursive: true, mode: 0o700 })
        const file = join(folder, `${randomUUID()}.eml`)
        await writeFile(file, message as Buffer, { mode: 0o600 })
        log.info({ part: 'mail', to: mail.to, subject: mail.subject, file }, 'mail kept: no mail server is set')
      })
    },
    close() {},
  }
}

/** Deletes old mail files. */
export async function sweepMails(folder: string, before: Date): Promise<void> {
  for (const name of (await readdir(folder).catch(nullIfMissing)) ?? []) {
    const file = join(folder, name)
    const found = await stat(file).catch(nullIfMissing)
    if (found?.isFile() && name.endsWith('.eml') && found.mtime < before) await rm(file, { force: true })
  }
}

async function orRefused(log: Log, { to }: Mail, send: () => Promise<void>): Promise<Sent> {
  try {
    await send()
    return 'sent'
  } catch (error) {
    if (!isForGood(error)) throw error
    log.warn({ part: 'mail', to, err: error }, 'mail refused')
    return 'refused'
  }
}

/** Whether the server rejects this mail permanently. A rejection of this server as a sender can be fixed. */
function isForGood(error: unknown): boolean {
  if (error instanceof BadAddress) return true
  const { code, responseCode = 0 } = error as { code?: string; responseCode?: number }
  return (code === 'EENVELOPE' || code === 'EMESSAGE') && responseCode >= 500 && responseCode < 600
}
