/** Outgoing mail. Without a mail server each message becomes a file in the data folder, and the log says where. */
import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Log } from '../log.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

export interface Mailer {
  send(mail: Mail): Promise<void>
}

export function smtpMailer(url: string, from: string): Mailer {
  return {
    async send(mail) {
      const { createTransport } = await import('nodemailer')
      // As an object, or a comma in it would make it two.
      await createTransport(url).sendMail({ from, ...mail, to: { name: '', address: mail.to } })
    },
  }
}

/** The text holds links that are secrets: it goes to a file only the owner can read, never to the log. */
export function folderMailer(folder: string, from: string, log: Log): Mailer {
  return {
    async send({ to, subject, text }) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const file = join(folder, `${randomUUID()}.eml`)
      await writeFile(file, `From: ${from}\nTo: ${to}\nSubject: ${subject}\n\n${text}\n`, { mode: 0o600 })
      log.info({ part: 'mail', to, subject, file }, 'mail kept: no mail server is set')
    },
  }
}
