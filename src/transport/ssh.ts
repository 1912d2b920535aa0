/**
 * Git over SSH without a system account. Clients authenticate with a key only, and may run only git's commands. There
 * is no terminal, no forwarding and no file transfer. Unauthenticated clients get little time and few connections.
 */
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'
import type { Algorithms, Connection, Server } from 'ssh2'
import type { SshFigures } from '../api/metrics.ts'
import { MINUTE } from '../clock.ts'
import type { App } from '../context.ts'
import { welcome } from './ssh/connection.ts'
import { Guests, type GuestLimits } from './ssh/guests.ts'

export interface SshServer extends AsyncDisposable {
  /** The port that was bound. */
  readonly port: number
}

export interface SshLimits extends GuestLimits {
  /** The limit of rejected keys and other credentials. */
  readonly tries: number
  /** Parallel sessions on one connection. */
  readonly sessions: number
  /** Milliseconds that a running command gets when the server closes. */
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

/** Closing waits for running commands, up to a limit. Null if SSH is disabled. */
export async function startSsh(
  { app, figures = { connections: 0, commands: new Map() } }: { app: App; figures?: SshFigures },
  input: Partial<SshLimits> = {},
): Promise<SshServer | null> {
  const { host, sshPort } = app.config
  if (sshPort === null) return null
  const limits = { ...LIMITS, ...input }
  const guests = new Guests(limits)
  // Loaded for the first client instead of at every start.
  let protocol: Promise<Server> | undefined
  const greet = async (socket: Socket) => {
    if (!guests.admit(socket)) return void socket.destroy()
    figures.connections++
    socket.once('close', () => figures.connections--)
    protocol ??= openProtocol(app, guests, limits, figures)
    const server = await protocol
    if (!socket.destroyed) server.injectSocket(socket)
  }
  // Keep-alive detects clients that have disappeared. Otherwise they would look idle.
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

/** No SHA-1, and no compression, because packs are compressed already. */
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
