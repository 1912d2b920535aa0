/**
 * Blobs in an existing bucket. Content is first written to a local file, because S3 needs its length and digest before
 * the first byte. Then one PUT uploads it; S3 accepts up to 5 GB and verifies the digest.
 */
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
}

/** Parses `s3://accessKey:secretKey@bucket?endpoint=https://host&region=name`; the default endpoint is Amazon's. */
export function bucketOf(url: string, keys: { accessKey: string | null; secretKey: string | null }): Bucket {
  const { hostname, username, password, searchParams } = new URL(url)
  const region = searchParams.get('region') ?? 'us-east-1'
  const endpoint = searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`
  const accessKey = decodeURIComponent(username) || keys.accessKey
  const secretKey = decodeURIComponent(password) || keys.secretKey
  if (!accessKey || !secretKey) throw new Error('MORTISE_S3_ACCESS_KEY and MORTISE_S3_SECRET_KEY must be set')
  return { url: `${endpoint.replace(/\/+$/, '')}/${hostname}`, region, accessKey, secretKey }
}

interface Options {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'DELETE'
  /** Appended to the bucket's URL. */
  readonly at: string
  readonly range?: Range | undefined
  readonly draft?: Draft
}

export function s3Blobs({ url, region, accessKey, secretKey }: Bucket, spool: string): Blobs {
  const signing = { service: 's3', region, accessKeyId: accessKey, secretAccessKey: secretKey, cache: new Map() }
  const at = (digest: string) => `/${blobPath(digest)}`

  const askOnce = async ({ method, at, range, draft }: Options): Promise<IncomingMessage> => {
    const given = {
      ...(range && { Range: `bytes=${range.start}-${range.end ?? ''}` }),
      ...(draft && { 'Content-Length': String(draft.size), 'X-Amz-Content-Sha256': draft.digest }),
    }
    const { url: target, headers } = await new AwsV4Signer({ ...signing, method, url: url + at, headers: given }).sign()
    return send(target, { method, headers: Object.fromEntries(headers) }, draft?.path)
  }
  const ask = (input: Options) => insist(() => askOnce(input))

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
      if (isFound) return { size: wholeSize(answer), stream: unhurried(answer) }
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

const PAUSES_MS = [100, 300, 900]

/**
 * Retries on temporary failures, because every request here can be repeated. Returns the last answer or throws the last
 * error.
 */
async function insist(ask: () => Promise<IncomingMessage>): Promise<IncomingMessage> {
  for (const ms of PAUSES_MS) {
    const answer = await ask().catch(() => null)
    if (answer && !isPassing(answer)) return answer
    answer?.destroy()
    await pause(ms * (0.5 + Math.random()))
  }
  return ask()
}

const isPassing = ({ statusCode }: IncomingMessage) => statusCode! >= 500 || statusCode === 429

const PATIENCE_MS = 60_000

/** Not fetch, which reads a body faster than the network sends it and so keeps all of it in memory. */
async function send(url: URL, options: http.RequestOptions, file?: string): Promise<IncomingMessage> {
  const request = (url.protocol === 'https:' ? https : http).request(url, options)
  request.setTimeout(PATIENCE_MS, () => request.destroy(new Error(`silent for ${PATIENCE_MS} ms`)))
  // An answer contains the error. Without a listener, a later error would end the process.
  request.on('error', () => {})
  if (file) pipeline(createReadStream(file), request).catch(() => {})
  else request.end()
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    return answer
  } catch (cause) {
    throw new BlobStoreUnavailable('the blob store cannot be reached', cause)
  }
}

/** Reads an answer without a blob to its end. An unexpected answer may arrive while the upload is still running. */
async function finish(answer: IncomingMessage, ...expected: number[]): Promise<void> {
  const said = await text(answer)
  if (expected.includes(answer.statusCode!)) return
  answer.destroy()
  const code = /<Code>(\w+)<\/Code>/.exec(said)?.[1] ?? ''
  const reason = `the blob store answers ${answer.statusCode} ${code}`.trimEnd()
  throw isPassing(answer) ? new BlobStoreUnavailable(reason) : new Error(reason)
}

/** Removes the timeout: a reader may read a blob slowly. */
const unhurried = (answer: IncomingMessage) => answer.setTimeout(0)

const wholeSize = ({ headers }: IncomingMessage): number =>
  Number(headers['content-range']?.split('/')[1] ?? headers['content-length'])
