/** One connection: its authentication by a signature, and its commands. */
import type { Socket } from 'node:net'
import { PassThrough, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import type { Connection, ParsedKey, PublicKeyAuthContext, ServerChannel, Session } from 'ssh2'
import { MINUTE } from '../../clock.ts'
import type { SshFigures } from '../../api/metrics.ts'
import type { App } from '../../context.ts'
import { converse, type Conversation } from './conversation.ts'
import type { Guest } from './guests.ts'
import { findSshIdentity, fingerprintOf } from './identities.ts'

interface Manner {
  readonly tries: number
  readonly sessions: number
  readonly parseKey: (blob: Buffer) => ParsedKey | Error
  readonly figures: SshFigures
}

/** All clients use the same login name. The key identifies the user. */
const LOGIN = 'git'

export function welcome(
  app: App,
  client: Connection,
  guest: Guest,
  { tries, sessions, parseKey, figures }: Manner,
): void {
  let refused = 0
  let proven: string | null = null
  client.on('error', () => {})
  client.on('authentication', (context) => {
    const refuse = () => {
      if (context.method !== 'none') refused++
      if (refused < tries) context.reject(['publickey'])
      else client.end()
    }
    if (context.method !== 'publickey' || context.username !== LOGIN) return refuse()
    const fingerprint = fingerprintOf(context.key.data)
    findSshIdentity(app, fingerprint)
      .then((identity) => {
        if (!identity || (context.signature && !isSigned(context, parseKey))) return refuse()
        // Without a signature, the client only asks whether the key is acceptable.
        if (context.signature) {
          proven = fingerprint
          guest.proven()
        }
        context.accept()
      })
      .catch((error: unknown) => {
        app.log.error({ err: error, part: 'ssh' }, 'SSH key not looked up')
        client.end()
      })
  })
  let open = 0
  client.on('session', (accept, reject) => {
    if (proven === null || open >= sessions) return reject()
    open++
    serveSession(
      app,
      accept().once('close', () => open--),
      guest,
      proven,
      figures,
    )
  })
}

/** Verifies the signature for this connection, with a secure hash. */
function isSigned({ key, signature, blob, hashAlgo }: PublicKeyAuthContext, parseKey: Manner['parseKey']): boolean {
  const parsed = parseKey(key.data)
  if (parsed instanceof Error || !signature || !blob) return false
  if (parsed.type === 'ssh-rsa' && hashAlgo === undefined) return false
  return parsed.verify(blob, signature, hashAlgo) === true
}

const PATIENCE_MS = 5 * MINUTE
const PROTOCOL = /^[\w:=.-]{1,255}$/

function serveSession(app: App, session: Session, guest: Guest, fingerprint: string, figures: SshFigures): void {
  const address = guest.socket.remoteAddress ?? ''
  let protocol: string | undefined
  session.on('env', (accept, reject, { key, val }) => {
    if (key !== 'GIT_PROTOCOL' || !PROTOCOL.test(val)) return reject?.()
    protocol = val
    accept?.()
  })
  const begin = (channel: ServerChannel | undefined, line: string | null) => {
    if (!channel) return
    guest
      .during(() => attend(app, channel, guest, { fingerprint, line, protocol, connection: { address, figures } }))
      .catch((error: unknown) => {
        app.log.error({ err: error, part: 'ssh' }, 'SSH session failed')
        guest.socket.destroy()
      })
  }
  session.on('shell', (accept) => begin(accept(), null))
  session.on('exec', (accept, _reject, { command }) => begin(accept(), command))
}

async function attend(
  app: App,
  channel: ServerChannel,
  { socket }: Guest,
  command: Pick<Conversation, 'fingerprint' | 'line' | 'protocol' | 'connection'>,
): Promise<void> {
  // A channel neither fails nor ends when its client disconnects, so the code uses its own streams.
  const input = channel.on('error', () => {}).pipe(new PassThrough())
  let taken = 0
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      const passed = () => {
        taken += chunk.length
        done()
      }
      // A client may open a window of any size. Unread data must not pile up at the socket either.
      const next = () => (socket.writableNeedDrain ? void socket.once('drain', passed) : passed())
      if (channel.write(chunk)) next()
      else channel.once('drain', next)
    },
  })
  const unwatch = app.stalls.watchChannel({
    isDue: () => output.writableLength > 0,
    moved: () => taken,
    end: () => socket.destroy(),
    socket,
  })
  const gone = () => {
    input.destroy()
    output.destroy()
  }
  for (const stream of [input, output]) stream.on('error', () => {})
  channel.once('close', gone)
  socket.once('close', gone)
  try {
    if (socket.destroyed) return
    const code = await converse(app, {
      ...command,
      input,
      output,
      errors: channel.stderr,
    })
    output.end()
    await finished(output).catch(() => {})
    channel.exit(code)
    await closing(channel, socket)
  } finally {
    unwatch()
    channel.off('close', gone)
    socket.off('close', gone)
  }
}

/** Sends all output, unless the client stops reading. */
async function closing(channel: ServerChannel, socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const patience = setTimeout(() => socket.destroy(), PATIENCE_MS)
  socket.once('close', resolve)
  channel.once('close', resolve).end(resolve)
  if (socket.destroyed) resolve()
  await promise
  clearTimeout(patience)
  socket.off('close', resolve)
}
