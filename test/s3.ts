/**
 * An S3 store on loopback: s3rver behind a gate of our own. s3rver itself accepts every signature of a known access
 * key, answers a PUT a little too early, and cannot simulate failures.
 */
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

export const ACCESS_KEY = 'S3RVER'
export const SECRET_KEY = 'S3RVER'

interface Exchange {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  status: number
  body: string
  respond: boolean
}

interface S3rver {
  readonly middleware: ((exchange: Exchange, next: () => Promise<void>) => Promise<void>)[]
  run(): Promise<AddressInfo>
  close(): Promise<void>
}

// It has no types.
const S3rver = createRequire(import.meta.url)('s3rver') as new (options: object) => S3rver

/** A function delays the request with its body unread, and then closes the connection. */
type Mishap = '500' | 'cut off' | (() => Promise<void>)

/** What the bucket does with all requests: a status, no answer at all, or an answer that ends or stops in the middle. */
export type Outage = 500 | 503 | 403 | 'silent' | 'slow' | 'cut in the middle' | 'stuck in the middle'

export interface S3 extends AsyncDisposable {
  /** The URL of the bucket, without credentials. */
  readonly url: string
  readonly endpoint: string
  /** What happens to the next requests instead of an answer. */
  readonly mishaps: Mishap[]
  /** From now on; only for requests whose method and path match. */
  outage: { readonly kind: Outage; readonly requests?: RegExp } | null
  /** Methods of all requests, including failed ones. */
  readonly requests: string[]
  keys(): Promise<string[]>
}

export async function startS3(): Promise<S3> {
  const directory = await mkdtemp(join(tmpdir(), 'mortise-s3-'))
  const server = new S3rver({
    directory,
    address: '127.0.0.1',
    port: 0,
    silent: true,
    configureBuckets: [{ name: 'blobs' }],
  })
  const state: Pick<S3, 'mishaps' | 'requests' | 'outage'> = { mishaps: [], requests: [], outage: null }
  const { mishaps, requests } = state
  server.middleware.unshift(async (exchange, next) => {
    const { req } = exchange
    requests.push(req.method!)
    const mishap = mishaps.shift()
    const outage = state.outage?.requests?.test(`${req.method} ${req.url}`) === false ? null : state.outage
    if (outage?.kind === 'slow') await pause(SLOW_MS)
    else if (outage) return suffer(exchange, outage.kind)
    if (mishap && mishap !== '500') {
      if (mishap !== 'cut off') await mishap()
      exchange.respond = false
      req.socket.destroy()
    } else if (mishap) refuse(exchange, 500, 'InternalError')
    else if (isStranger(req)) refuse(exchange, 403, 'InvalidAccessKeyId')
    else if (!isSigned(req)) refuse(exchange, 403, 'SignatureDoesNotMatch')
    else if (req.method === 'PUT' && !req.headers['content-length']) refuse(exchange, 411, 'MissingContentLength')
    else await next()
    if (req.method === 'PUT' && exchange.status === 200)
      await written(join(directory, `${req.url!}._S3rver_object`), req)
  })
  const { port } = await server.run()
  const endpoint = `http://127.0.0.1:${port}`
  return Object.assign(state, {
    endpoint,
    url: `s3://blobs?endpoint=${endpoint}&region=us-east-1`,
    async keys() {
      const files = await readdir(join(directory, 'blobs'), { recursive: true })
      return files.flatMap((file) => (file.endsWith('._S3rver_object') ? [file.replace('._S3rver_object', '')] : []))
    },
    async [Symbol.asyncDispose]() {
      await server.close()
      await rm(directory, { recursive: true, force: true })
    },
  })
}

const SLOW_MS = 30
const CODES = { 500: 'InternalError', 503: 'SlowDown', 403: 'AccessDenied' }

async function suffer(exchange: Exchange, outage: Exclude<Outage, 'slow'>): Promise<void> {
  const { req, res } = exchange
  if (typeof outage === 'number') return refuse(exchange, outage, CODES[outage])
  exchange.respond = false
  if (outage !== 'silent') res.writeHead(200, { 'Content-Length': 1_000_000 }).write('some bytes')
  if (outage === 'cut in the middle') await pause(SLOW_MS)
  else await once(req.socket, 'close')
  req.socket.destroy()
}

/** s3rver answers when it has received everything, although the file may not be completely written yet. */
async function written(file: string, { headers }: IncomingMessage): Promise<void> {
  while ((await stat(file)).size < Number(headers['content-length'])) await pause(1)
}

function refuse(exchange: Exchange, status: number, code: string): void {
  exchange.status = status
  exchange.body = `<?xml version="1.0"?><Error><Code>${code}</Code><Message>No.</Message></Error>`
}

const isStranger = ({ headers }: IncomingMessage) => !headers.authorization?.includes(`Credential=${ACCESS_KEY}/`)

/** AWS Signature Version 4, recomputed from the request. */
function isSigned({ method, url, headers }: IncomingMessage): boolean {
  const [, scope = '', names = '', signature] =
    /Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(headers.authorization!) ?? []
  const { pathname, searchParams } = new URL(url!, 'http://s3')
  searchParams.sort()
  const signedHeaders = names.split(';').map((name) => `${name}:${headers[name] as string}`)
  const request = [method, pathname, searchParams, ...signedHeaders, '', names, headers['x-amz-content-sha256']]
  const digest = createHash('sha256').update(request.join('\n')).digest('hex')
  const hmac = (key: Buffer, text: string) => createHmac('sha256', key).update(text).digest()
  const key = scope.split('/').reduce(hmac, Buffer.from(`AWS4${SECRET_KEY}`))
  const text = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, digest].join('\n')
  return hmac(key, text).toString('hex') === signature
}
