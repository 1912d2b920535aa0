/**
 * Git servers on loopback to fetch from: git's own smart HTTP behind node:http, with a password or a redirect on
 * request, and git's own daemon.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { runProgram } from './programs.ts'
import { TEMPORARY_FOLDER } from '../src/lib/files/temporary-folder.ts'

export interface OriginCommit {
  /** `master` by default; a branch is created with its first commit. */
  readonly branch?: string
  readonly message?: string
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** A lightweight tag on this commit. */
  readonly tag?: string
}

export interface OriginRequest {
  readonly method: string
  readonly url: string
  readonly host: string | undefined
  readonly authorization: string | undefined
}

export interface OriginOptions {
  readonly host?: string
  readonly port?: number
  /** Required of every client, by basic authentication. */
  readonly credentials?: { readonly username: string; readonly password: string }
  /** The redirect target of every request: the rest of its path is appended. */
  readonly redirectTo?: string
  /** An answer stalls after this many bytes. */
  readonly stallAfter?: number
  /** A status to answer with instead, or `cut` to close the connection. */
  readonly refuse?: () => number | 'cut' | null
  /** Runs before a request is answered. */
  readonly onRequest?: (request: OriginRequest) => unknown
}

interface Repositories {
  /** HEAD is the branch of the first commit; the URL contains no credentials. */
  addRepository(name: string, ...commits: OriginCommit[]): Promise<{ dir: string; url: string }>
}

export interface GitOrigin extends Repositories, AsyncDisposable {
  readonly url: string
  readonly port: number
  /** All requests, including rejected ones. */
  readonly requests: OriginRequest[]
}

export async function startGitOrigin(options: OriginOptions = {}): Promise<GitOrigin> {
  const { host = '127.0.0.1', port = 0, credentials, redirectTo, stallAfter = Infinity, refuse, onRequest } = options
  const root = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-origin-'))
  const requests: OriginRequest[] = []
  const expected = credentials && `Basic ${btoa(`${credentials.username}:${credentials.password}`)}`

  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const seen = { method, url, host: headers.host, authorization: headers.authorization }
    requests.push(seen)
    void (async () => {
      await onRequest?.(seen)
      const refusal = refuse?.() ?? null
      if (refusal === 'cut') request.socket.destroy()
      else if (refusal !== null) response.writeHead(refusal).end()
      else if (redirectTo) response.writeHead(302, { location: redirectTo + url }).end()
      else if (expected && headers.authorization !== expected)
        response.writeHead(401, { 'www-authenticate': 'Basic realm="origin"' }).end()
      else serve(root, request, response, stallAfter)
    })()
  })
  const address = await listen(server, host, port)
  return {
    url: `http://${address}`,
    port: (server.address() as AddressInfo).port,
    requests,
    addRepository: adding(root, `http://${address}`),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await closed(server)
      await rm(root, { recursive: true, force: true })
    },
  }
}

export interface GitDaemon extends Repositories, AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The `host=` values that clients sent. */
  readonly hosts: string[]
}

/** One daemon per connection, so that we can choose the port. */
export async function startGitDaemon({ host = '127.0.0.1' } = {}): Promise<GitDaemon> {
  const root = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-daemon-'))
  const hosts: string[] = []
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)))
    let greeting = ''
    socket.on('data', function listen(chunk: Buffer) {
      greeting += chunk.toString('latin1')
      const host = /\0host=([^\0]*)\0/.exec(greeting)?.[1]
      if (host !== undefined) hosts.push(host)
      if (host !== undefined || greeting.length > 1000) socket.off('data', listen)
    })
    const daemon = spawn('git', ['daemon', '--inetd', '--export-all', `--base-path=${root}`], {
      env: environment(),
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    daemon.stdin.on('error', () => {})
    socket.pipe(daemon.stdin)
    daemon.stdout.pipe(socket)
  })
  const address = await listen(server, host, 0)
  return {
    url: `git://${address}`,
    port: (server.address() as AddressInfo).port,
    hosts,
    addRepository: adding(root, `git://${address}`),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await closed(server)
      await rm(root, { recursive: true, force: true })
    },
  }
}

export async function temporaryFolder(): Promise<AsyncDisposable & { path: string }> {
  const path = await mkdtemp(join(TEMPORARY_FOLDER, 'mortise-git-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

const environment = (more: Record<string, string | undefined> = {}) => ({
  PATH: process.env.PATH,
  HOME: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  ...more,
})

async function listen(server: Server | TcpServer, host: string, port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject).listen(port, host, resolve)
  await promise
  return `${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`
}

function closed(server: Server | TcpServer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  return promise
}

const adding =
  (root: string, base: string): Repositories['addRepository'] =>
  async (name, ...commits) => {
    const dir = join(root, name)
    const head = commits[0]?.branch ?? 'master'
    await runGit(['init', '--bare', '--quiet', '--template=', `--initial-branch=${head}`, dir])
    await runGit([`--git-dir=${dir}`, 'fast-import', '--quiet'], fastImport(commits))
    return { dir, url: `${base}/${name}` }
  }

/** Plain git to inspect and prepare; returns its output without the last line break. */
export async function runGit(args: string[], input: Uint8Array = Buffer.alloc(0)): Promise<string> {
  const env = environment({ GIT_CONFIG_GLOBAL: '/dev/null' })
  const { code, stdout, stderr } = await runProgram(['git', ...args], { cwd: process.cwd(), env, input })
  if (code !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  return stdout.trimEnd()
}

function fastImport(commits: readonly OriginCommit[]): Buffer {
  const parts: (string | Uint8Array)[] = []
  const data = (content: string | Uint8Array) => {
    const bytes = Buffer.from(content)
    parts.push(`data ${bytes.length}\n`, bytes, '\n')
  }
  for (const [n, { branch = 'master', message = `commit ${n + 1}`, files, tag }] of commits.entries()) {
    parts.push(`commit refs/heads/${branch}\n`, `committer Origin <origin@example.com> ${1_700_000_000 + n} +0000\n`)
    data(message)
    for (const [path, content] of Object.entries(files ?? { [`file-${n + 1}.txt`]: `content ${n + 1}\n` })) {
      parts.push(`M 100644 inline ${path}\n`)
      data(content)
    }
    if (tag) parts.push(`reset refs/tags/${tag}\n`, `from refs/heads/${branch}\n`)
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)))
}

/** Serves by CGI, as a web server does. */
function serve(root: string, request: IncomingMessage, response: ServerResponse, stallAfter: number): void {
  const { pathname, search } = new URL(request.url!, 'http://origin')
  const { headers } = request
  const backend = spawn('git', ['http-backend'], {
    env: environment({
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      GIT_PROTOCOL: headers['git-protocol'] as string | undefined,
      REQUEST_METHOD: request.method,
      PATH_INFO: decodeURIComponent(pathname),
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: headers['content-type'],
      CONTENT_LENGTH: headers['content-length'],
      HTTP_CONTENT_ENCODING: headers['content-encoding'],
      REMOTE_ADDR: request.socket.remoteAddress,
    }),
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  backend.stdin.on('error', () => {})
  request.pipe(backend.stdin)
  response.on('close', () => backend.kill())
  let head = Buffer.alloc(0)
  let sent = 0
  backend.stdout.on('data', (chunk: Buffer) => {
    if (!response.headersSent) {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0) return
      writeHead(response, head.toString('latin1', 0, end))
      chunk = head.subarray(end + 4)
    }
    if ((sent += chunk.length) <= stallAfter) response.write(chunk)
  })
  backend.stdout.once('end', () => sent <= stallAfter && response.end())
  backend.once('error', () => response.destroy())
}

function writeHead(response: ServerResponse, head: string): void {
  const fields = new Map(head.split('\r\n').map((line) => line.split(/: (.*)/, 2) as [string, string]))
  response.writeHead(Number.parseInt(fields.get('Status') ?? '200', 10), [...fields].flat())
}
