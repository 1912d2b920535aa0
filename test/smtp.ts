/** A third-party mail server on loopback. */
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { callbackify } from 'node:util'
import { SMTPServer, type SMTPServerSession } from 'smtp-server'
import { readMail, type SentMail } from './mailbox.ts'

export interface MailServer extends AsyncDisposable {
  readonly url: string
  readonly received: (SentMail & { readonly source: string; readonly envelope: { from: string; to: string[] } })[]
  /** How many connections were opened, and are open. */
  readonly connections: { opened: number; open: number }
  /** The SMTP code to reject a recipient with; null accepts. */
  refuse: (address: string) => number | null
}

export async function startMailServer(): Promise<MailServer> {
  const received: MailServer['received'] = []
  const connections = { opened: 0, open: 0 }
  const it: { refuse: MailServer['refuse'] } = { refuse: () => null }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onConnect(_session, done) {
      connections.opened++
      connections.open++
      done()
    },
    onClose() {
      connections.open--
    },
    onRcptTo({ address }, _session, done) {
      const responseCode = it.refuse(address)
      if (responseCode === null) return done()
      done(Object.assign(new Error('no mail for them'), { responseCode }))
    },
    onData: callbackify(async (stream: Readable, { envelope }: SMTPServerSession) => {
      const content = await buffer(stream)
      const from = envelope.mailFrom ? envelope.mailFrom.address : ''
      const to = envelope.rcptTo.map(({ address }) => address)
      received.push({ ...(await readMail(content)), source: content.toString(), envelope: { from, to } })
    }),
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    received,
    connections,
    get refuse() {
      return it.refuse
    },
    set refuse(refuse) {
      it.refuse = refuse
    },
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}
