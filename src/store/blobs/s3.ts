/**
 * Blobs in an existing bucket. Content is first written to a local file, because S3 needs its length and digest before
 * the first byte. Then one PUT uploads it; S3 accepts up to 5 GB and verifies the digest.
 */
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { BlobStoreUnavailable, type Blobs, type Range } from './blobs.ts'
import { checkRange, blobPath, receive, type Draft } from './content.ts'

export interface Bucket {
  readonly url: string
  readonly region: string
  readonly accessKey: string
  readonly secretKey: string
  /** In front of every name; empty, or with a slash at its end. */
  readonly prefix: string
  /** The bucket may be silent for so many seconds. */
  readonly timeout: number
}

/**
 * Parses `s3://accessKey:secretKey@bucket?endpoint=https://host&region=name&timeout=60`; the default endpoint is
 * Amazon's.
 */
export function bucketOf(url: string, keys: { accessKey: string | null; secretKey: string | null }): Bucket {
  const { hostname, username, password, pathname, searchParams } = new URL(url)
  const region = searchParams.get('region') ?? 'us-east-1'
  const endpoint = searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  const accessKey = decodeURIComponent(username) || keys.accessKey
  const secretKey = decodeURIComponent(password) || keys.secretKey
  if (!accessKey || !secretKey) throw new Error('MORTISE_S3_ACCESS_KEY and MORTISE_S3_SECRET_KEY must be set')
  const prefix = pathname.replaceAll(/^\/+|\/+$/g, '')
  return {
    url: `${endpoint.replace(/\/+$/, '')}/${hostname}`,
    region,
    accessKey,
    secretKey,
    prefix: prefix === '' ? '' : `${prefix}/`,
    timeout: Number(searchParams.get('timeout') ?? 60),
  }
}

interface Options {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Appended to the bucket's URL. */
  readonly at: string
  readonly range?: Range | undefined
  readonly draft?: Draft
  readonly body?: Buffer
}

interface Client {
  /** Repeats a request that fails for a moment. */
  ask(input: Options): Promise<IncomingMessage>
  askOnce(input: Options): Promise<IncomingMessage>
}

function clientOf({ url, region, accessKey, secretKey, timeout }: Bucket): Client {
  const signing = { service: 's3', region, accessKeyId: accessKey, secretAccessKey: secretKey, cache: new Map() }
  const askOnce = async ({ method, at, range, draft, body }: Options): Promise<IncomingMessage> => {
    const content = draft ?? (body && { size: body.length, digest: hash('sha256', body) })
    const given = {
      ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
      ...(content && { 'Content-Length': String(content.size), 'X-Amz-Content-Sha256': content.digest }),
    }
    const { url: target, headers } = await new AwsV4Signer({ ...signing, method, url: url + at, headers: given }).sign()
    const source = draft ? createReadStream(draft.path) : body
    return send(target, { method, headers: Object.fromEntries(headers), timeout: timeout * 1000 }, source)
  }
  return { askOnce, ask: (input) => insist(() => askOnce(input)) }
}

export function s3Blobs(bucket: Bucket, spool: string): Blobs {
  const { ask, askOnce } = clientOf(bucket)
  const at = (digest: string) => `/${bucket.prefix}${blobPath(digest)}`

  const sizeOf = async (digest: string): Promise<number | null> => {
    const answer = await ask({ method: 'HEAD', at: at(digest) })
    await finish(answer, 200, 404)
    return answer.statusCode === 404 ? null : Number(answer.headers['content-length'])
  }

  return {
    isShared: true,

    async put(content, { limit } = {}) {
      await using draft = await receive(content, spool, limit)
      const { digest, size } = draft
      const answer = await ask({ method: 'PUT', at: at(digest), draft })
      await finish(answer, 200)
      return { digest, size }
    },

    async open(digest, range) {
      if (range) checkRange(range)
      const answer = await ask({ method: 'GET', at: at(digest), range })
      const isFound = answer.statusCode === (range ? 206 : 200)
      if (isFound) return { size: wholeSize(answer), stream: answer }
      await finish(answer, 404, 416)
      if (answer.statusCode === 404) return null
      // The blob ends before the range starts; the answer need not contain the size.
      const size = await sizeOf(digest)
      return size === null ? null : { size, stream: Readable.from([]) }
    },

    async has(digest) {
      return (await sizeOf(digest)) !== null
    },

    async remove(digest) {
      const answer = await ask({ method: 'DELETE', at: at(digest) })
      await finish(answer, 200, 204, 404)
    },

    // A bucket may be shared and contain millions of objects: its owner must compare it with other tools.
    list: () => null,

    async check() {
      // GET, because an answer to HEAD has no body with a reason. One attempt, because the caller will check again.
      const answer = await askOnce({ method: 'GET', at: '?list-type=2&max-keys=1' })
      await finish(answer, 200)
    },
  }
}

export interface BucketFiles {
  /** Names directly below the prefix. */
  names(): Promise<string[]>
  /** Everything below the prefix, and when it was stored. */
  list(): AsyncIterable<{ name: string; modified: Date }>
  /** Null if there is none. */
  read(name: string): Promise<string | null>
  write(name: string, content: string): Promise<void>
  remove(name: string): Promise<void>
}

/** Small files with a name, such as the manifests of a backup. */
export function bucketFiles(bucket: Bucket): BucketFiles {
  const { ask } = clientOf(bucket)
  const at = (name: string) => `/${bucket.prefix}${encodeURIComponent(name)}`
  const pages = async function* (options: Record<string, string>) {
    for (let token = ''; ;) {
      const query = new URLSearchParams({ 'list-type': '2', prefix: bucket.prefix, ...options })
      if (token !== '') query.set('continuation-token', token)
      const page = await finish(await ask({ method: 'GET', at: `?${query.toString()}` }), 200)
      for (const [, content] of page.matchAll(/<Contents>([^]*?)<\/Contents>/g)) {
        const name = /<Key>([^<]+)</.exec(content!)?.[1]?.slice(bucket.prefix.length)
        const modified = new Date(/<LastModified>([^<]+)</.exec(content!)?.[1] ?? '')
        if (name) yield { name, modified }
      }
      token = /<NextContinuationToken>([^<]+)</.exec(page)?.[1] ?? ''
      if (token === '') return
    }
  }
  return {
    async names() {
      const names: string[] = []
      for await (const { name } of pages({ delimiter: '/' })) names.push(name)
      return names
    },
    list: () => pages({}),
    async read(name) {
      const answer = await ask({ method: 'GET', at: at(name) })
      const content = await finish(answer, 200, 404)
      return answer.statusCode === 404 ? null : content
    },
    async write(name, content) {
      await finish(await ask({ method: 'PUT', at: at(name), body: Buffer.from(content) }), 200)
    },
    async remove(name) {
      await finish(await ask({ method: 'DELETE', at: at(name) }), 200, 204, 404)
    },
  }
}

const PAUSES_MS = [100, 300, 900]

/**
 * Retries on temporary failures, because every request here can be repeated. Silence is no such failure: the caller has
 * waited long enough. Returns the last answer or throws the last error.
 */
async function insist(ask: () => Promise<IncomingMessage>): Promise<IncomingMessage> {
  for (const ms of PAUSES_MS) {
    const answer = await ask().catch((error: BlobStoreUnavailable) => {
      if (error.cause instanceof Silence) throw error
      return null
    })
    if (answer && !isPassing(answer)) return answer
    answer?.destroy()
    await pause(ms * (0.5 + Math.random()))
  }
  return ask()
}

const isPassing = ({ statusCode }: IncomingMessage) => statusCode! >= 500 || statusCode === 429

class Silence extends Error {}

const silent = (ms: number) =>
  new BlobStoreUnavailable(`the blob store has not answered for ${ms / 1000} s`, new Silence())

/** Not fetch, which reads a body faster than the network sends it and so keeps all of it in memory. */
async function send(
  url: URL,
  { timeout, ...options }: http.RequestOptions & { timeout: number },
  content: Readable | Buffer | undefined,
): Promise<IncomingMessage> {
  const request = (url.protocol === 'https:' ? https : http).request(url, options)
  let answer: IncomingMessage | undefined
  request.setTimeout(timeout, function onTimeout() {
    // A blob may be read slowly, and then the connection rests. While the reader waits, the bucket must not rest.
    if (answer && answer.readableLength > 0) answer.socket.setTimeout(timeout, onTimeout)
    else if (!answer?.complete) (answer ?? request).destroy(silent(timeout))
  })
  // An answer contains the error. Without a listener, a later error would end the process.
  request.on('error', () => {})
  if (content instanceof Readable) pipeline(content, request).catch(() => {})
  else request.end(content)
  try {
    answer = ((await once(request, 'response')) as [IncomingMessage])[0]
    return answer
  } catch (cause) {
    if (cause instanceof BlobStoreUnavailable) throw cause
    throw new BlobStoreUnavailable('the blob store cannot be reached', cause)
  }
}

/** Reads an answer without a blob to its end. An unexpected answer may arrive while the upload is still running. */
async function finish(answer: IncomingMessage, ...expected: number[]): Promise<string> {
  const body = await text(answer).catch((cause: unknown) => {
    if (cause instanceof BlobStoreUnavailable) throw cause
    throw new BlobStoreUnavailable('the blob store has closed the connection', cause)
  })
  if (expected.includes(answer.statusCode!)) return body
  answer.destroy()
  const code = /<Code>(\w+)<\/Code>/.exec(body)?.[1] ?? ''
  const reason = `the blob store answers ${answer.statusCode} ${code}`.trimEnd()
  throw isPassing(answer) ? new BlobStoreUnavailable(reason) : new Error(reason)
}

const wholeSize = ({ headers }: IncomingMessage): number =>
  Number(headers['content-range']?.split('/')[1] ?? headers['content-length'])
