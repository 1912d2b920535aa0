/**
 * Git over SSH, without a system account: a key is all anybody shows, git's verbs are all they may ask for. There is no
 * terminal, no forwarding and no file transfer. Who has not proven a key yet gets little time and little room.
 */
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'
import type { Algorithms, Connection, Server } from 'ssh2'
import type { SshFigures } from '../api/metrics.ts'
import { MINUTE } from '../clock.ts'
import type { App } from '../context.ts'
import { welcome } from './ssh/connection.ts'
import { Guests, type GuestLimits } from './ssh/guests.ts'

export interface SshServer extends AsyncDisposable {
  /** The one that was bound. */
  readonly port: number
}

export interface SshLimits extends GuestLimits {
  /** Keys and other credentials that were refused. */
  readonly tries: number
  /** At a time, on one connection. */
  readonly sessions: number
  /** Milliseconds a command may go on once the server closes. */
  readonly patience: number
}

const LIMITS: SshLimits = {
  loginGrace: MINUTE / 2,
  unproven: 100,
  unprovenOfOne: 30,
  connections: 1000,
  connectionsOfOne: 200,
  tries: 10,
  sessions: 10,
  idle: 5 * MINUTE,
  patience: MINUTE / 3,
}

/** Closing waits for running commands, for a while. Null when it is switched off. */
export async function startSsh(
  { app, figures = { connections: 0, commands: new Map() } }: { app: App; figures?: SshFigures },
  input: Partial<SshLimits> = {},
): Promise<SshServer | null> {
  const { host, sshPort } = app.config
  if (sshPort === null) return null
  const limits = { ...LIMITS, ...input }
  const guests = new Guests(limits)
  // The first client waits for it instead of every start.
  let protocol: Promise<Server> | undefined
  const greet = async (socket: Socket) => {
    if (!guests.admit(socket)) return void socket.destroy()
    figures.connections++
    socket.once('close', () => figures.connections--)
    protocol ??= openProtocol(app, guests, limits, figures)
    const server = await protocol
    if (!socket.destroyed) server.injectSocket(socket)
  }
  // Kept alive, or who vanished from the network would seem to be thinking.
  const alive = { keepAlive: true, keepAliveInitialDelay: MINUTE }
  const listener = createServer({ pauseOnConnect: true, noDelay: true, ...alive }, (socket) => {
    socket.on('error', () => {})
    greet(socket).catch((error: unknown) => {
      protocol = undefined
      app.log.error({ err: error, part: 'ssh' }, 'SSH is not served')
      socket.destroy()
    })
  })
  const port = await listen(listener, sshPort, host)
  listener.on('error', (error) => app.log.error({ err: error, part: 'ssh' }, 'SSH connection not taken'))
  return {
    port,
    async [Symbol.asyncDispose]() {
      const { promise: closed, resolve } = Promise.withResolvers<void>()
      listener.close(() => resolve())
      guests.sendHome()
      const last = setTimeout(() => guests.showOut(), limits.patience)
      await closed
      clearTimeout(last)
    },
  }
}

async function listen(listener: Listener, port: number, host: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  listener.once('error', reject).listen(port, host, resolve)
  await promise
  return (listener.address() as AddressInfo).port
}

/** Without SHA-1, and without compression: packs are compressed already. */
const ALGORITHMS: Algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
    'diffie-hellman-group14-sha256',
    'diffie-hellman-group16-sha512',
  ],
  hmac: ['hmac-sha2-256-etm@openssh.com', 'hmac-sha2-512-etm@openssh.com', 'hmac-sha2-256', 'hmac-sha2-512'],
  compress: ['none'],
}

async function openProtocol(app: App, guests: Guests, limits: SshLimits, figures: SshFigures): Promise<Server> {
  const [{ default: ssh2 }, { openHostKeys }] = await Promise.all([import('ssh2'), import('./ssh/host-keys.ts')])
  const hostKeys = await openHostKeys(app.config.data)
  const server = new ssh2.Server({ hostKeys, algorithms: ALGORITHMS, ident: 'Mortise' })
  server.on('connection', (client: Connection, { ip, port }) => {
    const guest = guests.find(ip, port)
    if (guest) welcome(app, client, guest, { ...limits, figures, parseKey: ssh2.utils.parseKey })
    else client.end()
  })
  return server
}
