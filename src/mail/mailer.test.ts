import { readFile, readdir, rm, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { readMail } from '../../test/mailbox.ts'
import { startMailServer } from '../../test/smtp.ts'
import { makeTemporaryFolder } from '../lib/files/temporary-folder.ts'
import { openLog } from '../log.ts'
import { composeMail, isMailAddress, oneLine } from './compose.ts'
import { folderMailer, smtpMailer, sweepMails } from './mailer.ts'

const SENDER = { address: 'forge@forge.example', replyTo: 'noreply@forge.example' }
const MAIL = { to: 'jane@example.com', subject: 'News', text: 'Hello' }
const log = await openLog('silent')

test('mails share a connection, arrive as text and HTML with their headers, and closing ends it', async () => {
  await using server = await startMailServer()
  const mailer = smtpMailer(server.url, SENDER, log)
  for (let n = 1; n <= 3; n++) {
    const sent = await mailer.send({
      ...MAIL,
      subject: `Größe ${n}`,
      text: `Text ${n}`,
      html: `<p>Text <b>${n}</b></p>`,
      fromName: 'Jane, "the" <b@c>',
      messageId: `note_${n}@forge.example`,
      inReplyTo: 'issue_1@forge.example',
      references: ['issue_1@forge.example', 'note_0@forge.example'],
      headers: { 'List-Id': 'a/b <1.b.a.forge.example>', 'X-GitLab-Project': 'Säge' },
    })
    expect(sent).toBe('sent')
  }
  expect(server.connections).toEqual({ opened: 1, open: 1 })
  expect(server.received[2]).toMatchObject({
    to: 'jane@example.com',
    subject: 'Größe 3',
    text: expect.stringMatching(/^Text 3\s*$/),
    html: expect.stringMatching(/^<p>Text <b>3<\/b><\/p>\s*$/),
    envelope: { from: SENDER.address, to: ['jane@example.com'] },
    headers: {
      from: `"Jane, \\"the\\" <b@c>" <${SENDER.address}>`,
      'reply-to': SENDER.replyTo,
      'message-id': '<note_3@forge.example>',
      'in-reply-to': '<issue_1@forge.example>',
      references: '<issue_1@forge.example> <note_0@forge.example>',
      'list-id': 'a/b <1.b.a.forge.example>',
      'x-gitlab-project': 'Säge',
      'auto-submitted': 'auto-generated',
      'content-type': expect.stringContaining('multipart/alternative'),
    },
  })
  mailer.close()
  await vi.waitUntil(() => server.connections.open === 0)
})

test('what is refused for good is told so, and what may go better later is thrown', async () => {
  await using server = await startMailServer()
  const mailer = smtpMailer(server.url, SENDER, log)
  server.refuse = (address) => (address.startsWith('nobody') ? 550 : address.startsWith('full') ? 452 : null)
  expect(await mailer.send({ ...MAIL, to: 'nobody@example.com' })).toBe('refused')
  await expect(mailer.send({ ...MAIL, to: 'full@example.com' })).rejects.toMatchObject({ responseCode: 452 })
  expect(await mailer.send(MAIL)).toBe('sent')
  expect(server.received.map(({ to }) => to)).toEqual(['jane@example.com'])
  mailer.close()
  const nowhere = smtpMailer('smtp://127.0.0.1:1', SENDER, log)
  await expect(nowhere.send(MAIL)).rejects.toMatchObject({ code: 'ESOCKET' })
  nowhere.close()
})

test('no text adds a header, a recipient or a line to one', async () => {
  await using server = await startMailServer()
  const mailer = smtpMailer(server.url, SENDER, log)
  const evil = 'x\r\nBcc: eve@example.com\r\n\r\nbody\u2028\u202ed'
  expect(
    await mailer.send({
      ...MAIL,
      subject: evil,
      fromName: evil,
      headers: { 'X-GitLab-Project': evil, 'List-Id': evil },
    }),
  ).toBe('sent')
  for (const to of [
    'a@b.c, eve@example.com',
    'a@b.c\r\nRCPT TO:<eve@example.com>',
    '"a b"@c.d',
    '<a@b.c>',
    'a',
    'a@[b]',
  ])
    expect([to, await mailer.send({ ...MAIL, to })]).toEqual([to, 'refused'])
  await expect(mailer.send({ ...MAIL, headers: { 'X\r\nBcc': 'eve@example.com' } })).rejects.toThrow('no name of')
  await expect(mailer.send({ ...MAIL, messageId: 'a b@c' })).rejects.toThrow('no id of')
  mailer.close()
  expect(server.received).toHaveLength(1)
  const [{ headers, envelope, source }] = server.received as [(typeof server.received)[number]]
  expect(envelope.to).toEqual(['jane@example.com'])
  expect(headers).not.toHaveProperty('bcc')
  expect(source).not.toMatch(/^Bcc/m)
  expect(headers['x-gitlab-project']).toBe('x Bcc: eve@example.com body d')
})

test('without a server a mail is a file of its own that only the owner reads', async () => {
  await using folder = await temporary()
  const mailer = folderMailer(folder.path, SENDER, log)
  expect(await mailer.send({ ...MAIL, html: '<p>Hello</p>' })).toBe('sent')
  expect(await mailer.send({ ...MAIL, to: 'nobody' })).toBe('refused')
  const [file, ...more] = await readdir(folder.path)
  expect(more).toEqual([])
  expect(await readMail(await readFile(join(folder.path, file!)))).toMatchObject({
    to: MAIL.to,
    subject: 'News',
    text: 'Hello\n',
    html: '<p>Hello</p>\n',
    headers: { from: SENDER.address, 'reply-to': SENDER.replyTo },
  })
  await utimes(join(folder.path, file!), 1000, 1000)
  await mailer.send(MAIL)
  await sweepMails(folder.path, new Date(2_000_000))
  expect(await readdir(folder.path)).toEqual([expect.not.stringContaining(file!)])
  await sweepMails(join(folder.path, 'none'), new Date())
})

test('a line is bounded, and whole letters are left', () => {
  expect(oneLine(' a\n\tb ', 10)).toBe('a b')
  expect(oneLine('😀'.repeat(20), 10)).toBe(`${'😀'.repeat(9)}…`)
  expect(composeMail({ ...MAIL, subject: 'x'.repeat(5000) }, SENDER).subject).toHaveLength(300)
})

test.each([
  ['jane@example.com', true],
  ["o'neil+tag@example.co.uk", true],
  ['jäne@exämple.com', true],
  ['root@[::1]', true],
  ['jane', false],
  ['jane@', false],
  ['@example.com', false],
  ['a@b@c', false],
  ['a b@c', false],
  [`${'a'.repeat(65)}@b.c`, false],
])('%s is an address: %s', (text, is) => expect(isMailAddress(text)).toBe(is))

async function temporary() {
  const path = await makeTemporaryFolder()
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}
