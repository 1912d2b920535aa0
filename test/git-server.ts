/**
 * A repository of ours behind both git protocols without a password: smart HTTP, where each request stands alone, and
 * git's own protocol over a socket. Real clients push to it and fetch from it.
 */
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { advertise, type Service } from '../src/git/fetch/advertisement.ts'
import { PktLineDecoder } from '../src/git/protocol/pkt-line.ts'
import { receivePack, type ReceiveOptions } from '../src/git/push/receive.ts'
import { createRepository } from '../src/git/storage/repositories.ts'
import { uploadArchive, uploadPack, type ServeOptions } from '../src/git/fetch/upload.ts'
import { temporaryFolder } from './git-origin.ts'
import { runProgram } from './programs.ts'

export interface ServerOptions {
  readonly gate?: ReceiveOptions['gate']
  readonly afterwards?: NonNullable<ReceiveOptions['afterwards']>
  readonly limits?: NonNullable<ReceiveOptions['limits']>
  readonly serve?: Pick<ServeOptions, 'deadline' | 'idle'>
}

export interface GitServer extends AsyncDisposable {
  readonly dir: string
  /** The folder that contains `clone` and `work`. */
  readonly root: string
  readonly http: string
  readonly socket: string
  readonly socketPort: number
  /** Errors on our side. */
  readonly failures: unknown[]
}

export async function startGitServer(options: ServerOptions = {}): Promise<GitServer> {
  const { gate = () => Promise.resolve({}), afterwards, limits, serve } = options
  const data = await temporaryFolder()
  const dir = join(data.path, 'x.git')
  await createRepository(dir, { defaultBranch: 'master' })
  const failures: unknown[] = []
  const running = new Set<Promise<unknown>>()
  const receiving = { gate, ...(afterwards && { afterwards }), ...(limits && { limits }) }
  const track = (work: Promise<unknown>, end: (error?: unknown) => unknown) => {
    const watched = work.then(
      () => end(),
      (error: unknown) => {
        failures.push(error)
        end(error)
      },
    )
    running.add(watched)
    void watched.finally(() => running.delete(watched))
  }

  const http = createHttpServer((request, response) => {
    track(answer(dir, request, response, receiving, serve), (error) => {
      if (error && !response.headersSent) response.writeHead(500)
      // A client that is still sending would not read the answer.
      request.resume()
      response.end()
    })
  })
  const sockets = new Set<Socket>()
  // A half-closed connection means that the client has sent everything, not that it is gone.
  const tcp = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    track(converse(dir, socket, receiving, serve), () => socket.end())
  })
  await Promise.all([http, tcp].map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))))
  const portOf = (server: typeof http | typeof tcp) => (server.address() as AddressInfo).port
  return {
    dir,
    root: data.path,
    http: `http://127.0.0.1:${portOf(http)}/x.git`,
    socket: `git://127.0.0.1:${portOf(tcp)}/x.git`,
    socketPort: portOf(tcp),
    failures,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      for (const socket of sockets) socket.destroy()
      await Promise.all(running)
      await Promise.all([http, tcp].map((server) => new Promise((done) => server.close(done))))
      await data[Symbol.asyncDispose]()
    },
  }
}

type Receiving = Pick<ReceiveOptions, 'gate' | 'afterwards' | 'limits'>

async function answer(
  dir: string,
  request: IncomingMessage,
  response: ServerResponse,
  receiving: Receiving,
  serve: ServerOptions['serve'],
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url!, 'http://x')
  const protocol = request.headers['git-protocol'] as string | undefined
  if (pathname.endsWith('/info/refs')) {
    const service = searchParams.get('service')!.replace('git-', '') as Service
    response.setHeader('content-type', `application/x-git-${service}-advertisement`)
    return advertise(dir, service, { protocol, output: response })
  }
  const input = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  const service = pathname.split('/').at(-1)!
  response.setHeader('content-type', `application/x-${service}-result`)
  const common = { protocol, stateless: true, input, output: response }
  if (service === 'git-upload-pack') await uploadPack(dir, { ...common, ...serve })
  else await receivePack(dir, { ...common, ...receiving })
}

async function converse(
  dir: string,
  socket: Socket,
  receiving: Receiving,
  serve: ServerOptions['serve'],
): Promise<void> {
  const [greeting, rest] = await greet(socket)
  if (rest.length > 0) socket.unshift(rest)
  const service = greeting.split(' ')[0]!
  const protocol = /\0\0(version=\d)/.exec(greeting)?.[1]
  const common = { protocol, stateless: false, input: socket, output: socket }
  if (service === 'git-upload-pack') await uploadPack(dir, { ...common, ...serve })
  else if (service === 'git-upload-archive') await uploadArchive(dir, { ...common, ...serve })
  else await receivePack(dir, { ...common, ...receiving })
}

async function greet(socket: Socket): Promise<[greeting: string, rest: Buffer]> {
  const decoder = new PktLineDecoder()
  for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    decoder.push(chunk)
    const line = decoder.next()
    if (Buffer.isBuffer(line)) return [line.toString(), decoder.rest()]
  }
  throw new Error('no greeting')
}

export interface ClientRun {
  readonly code: number
  readonly output: string
  /** The messages of git to its user. */
  readonly words: string
}

/** A plain git client in a folder. */
export async function client(cwd: string, ...args: string[]): Promise<ClientRun> {
  const { code, stdout, stderr } = await runProgram(['git', ...args], {
    cwd,
    env: {
      PATH: process.env.PATH,
      HOME: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      LC_ALL: 'C',
      ...Object.fromEntries(
        ['AUTHOR', 'COMMITTER'].flatMap((role) => [
          [`GIT_${role}_NAME`, 'Client'],
          [`GIT_${role}_EMAIL`, 'client@example.com'],
        ]),
      ),
    },
  })
  return { code, output: stdout.trimEnd(), words: stderr }
}
