import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import PostalMime, { decodeWords, type Email } from 'postal-mime'
import type { TestForge } from '../src/forge.ts'

export interface SentMail {
  to: string
  subject: string
  text: string
  html: string | null
  /** By names in lower case. */
  headers: Record<string, string>
}

/** All mails so far, after all background work has finished. */
export async function mailsOf(forge: TestForge): Promise<SentMail[]> {
  await forge.settle()
  const folder = join(forge.app.config.data, 'mail')
  if (!existsSync(folder)) return []
  return Promise.all((await readdir(folder)).map(async (name) => readMail(await readFile(join(folder, name)))))
}

export async function readMail(message: Uint8Array): Promise<SentMail> {
  const mail: Email = await PostalMime.parse(message)
  return {
    to: mail.to![0]!.address!,
    subject: mail.subject!,
    text: mail.text!,
    html: mail.html ?? null,
    headers: Object.fromEntries(mail.headers.map(({ key, value }) => [key, decodeWords(value)])),
  }
}

/** The link in a mail, without the host. */
export const linkIn = (mail: SentMail): string =>
  new URL(/^https?:.*$/m.exec(mail.text)![0]).href.replace(/^\w+:\/\/[^/]+/, '')
