import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestForge } from '../src/forge.ts'

export interface SentMail {
  to: string
  subject: string
  text: string
}

/** What was mailed so far, once all background work is done. */
export async function mailsOf(forge: TestForge): Promise<SentMail[]> {
  await forge.settle()
  const folder = join(forge.app.config.data, 'mail')
  if (!existsSync(folder)) return []
  const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')))
  return texts.map((mail) => ({
    to: /^To: (.*)$/m.exec(mail)![1]!,
    subject: /^Subject: (.*)$/m.exec(mail)![1]!,
    text: mail.slice(mail.indexOf('\n\n') + 2),
  }))
}

/** The link in a mail, without the address of the forge. */
export const linkIn = (mail: SentMail): string =>
  new URL(/^https?:.*$/m.exec(mail.text)![0]).href.replace(/^\w+:\/\/[^/]+/, '')
