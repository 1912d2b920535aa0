/** The advertisement at the start of a fetch or push: the refs and the capabilities. Hidden refs are not included. */
import type { Writable } from 'node:stream'
import { MINUTE } from '../../clock.ts'
import { folder } from '../process/arguments.ts'
import { gitBytes, gitStream, type GitOptions } from '../process/command.ts'
import { HIDDEN, isForPushes } from '../refs/namespaces.ts'
import { FLUSH, pktLine } from '../protocol/pkt-line.ts'
import { readRefs } from '../refs/ref-files.ts'
import { send } from '../protocol/sending.ts'
import { NO_OBJECT } from '../refs/update.ts'

export type Service = 'upload-pack' | 'receive-pack'
export type ProtocolVersion = 0 | 1 | 2

/** `Git-Protocol` of HTTP, GIT_PROTOCOL of SSH: `version=2:agent=x`. An unknown value means version 0. */
export function protocolVersion(input: string | undefined): ProtocolVersion {
  const versions = [...(input ?? '').matchAll(/(?:^|:)version=([12])(?=:|$)/g)].map(([, digit]) => Number(digit))
  return Math.max(0, ...versions) as ProtocolVersion
}

export interface AdvertiseOptions {
  /** As the client sent it. */
  readonly protocol?: string | undefined
  /** The function does not end the stream. */
  readonly output: Writable
  readonly signal?: AbortSignal | undefined
  readonly deadline?: number
  /** Additional hidden refs. */
  readonly hideRefs?: readonly string[]
}

/** The body of `GET info/refs?service=git-…`. */
export async function advertise(dir: string, service: Service, options: AdvertiseOptions): Promise<void> {
  const { protocol, output, signal, deadline = MINUTE, hideRefs } = options
  const version = protocolVersion(protocol)
  const header = Buffer.concat([pktLine(`# service=git-${service}\n`), FLUSH])
  if (service === 'receive-pack') {
    await send(output, header)
    return advertiseForPushes(dir, options)
  }
  if (version === 2) return send(output, await capabilities(dir))
  const refs = gitStream(dir, ['upload-pack', '--http-backend-info-refs', '--strict', folder(dir)], {
    ...uploadSettings(version, hideRefs),
    signal,
    deadline,
  })
  let isFirst = true
  for await (const chunk of refs as AsyncIterable<Buffer>) {
    // Not before git has found the repository: until then the caller can still answer 404.
    if (isFirst) await send(output, header)
    isFirst = false
    await send(output, chunk)
  }
}

let known: Promise<Buffer> | undefined

/** In version 2 clients request refs later. The rest is the same for all repositories, so git's answer is cached. */
async function capabilities(dir: string): Promise<Buffer> {
  known ??= gitBytes(dir, ['upload-pack', '--http-backend-info-refs', '--strict', folder(dir)], uploadSettings(2))
  try {
    return await known
  } catch (error) {
    known = undefined
    throw error
  }
}

export function uploadSettings(
  version: ProtocolVersion,
  hideRefs: readonly string[] = [],
): Pick<GitOptions, 'config' | 'environment'> {
  return {
    environment: { GIT_PROTOCOL: `version=${version}` },
    config: {
      'uploadpack.allowFilter': 'true',
      'uploadpack.allowAnySHA1InWant': 'true',
      'transfer.hideRefs': [...HIDDEN, ...hideRefs],
    },
  }
}

const CAPABILITIES = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'push-options',
  'object-format=sha1',
  'agent=mortise',
].join(' ')

/**
 * The refs on which a push may be based. Objects of alternates (`.have`) are not offered, because they may belong to
 * repositories that this client must not see.
 */
export async function advertiseForPushes(dir: string, options: AdvertiseOptions): Promise<void> {
  const { protocol, output } = options
  // Pushing has no version 2: git answers such a request with version 0.
  if (protocolVersion(protocol) === 1) await send(output, pktLine('version 1\n'))
  let tail = `\0${CAPABILITIES}\n`
  for await (const lines of refLines(dir, options)) {
    const packets = lines.map((line) => {
      const packet = pktLine(Buffer.from(line + tail, 'latin1'))
      tail = '\n'
      return packet
    })
    await send(output, Buffer.concat(packets))
  }
  if (tail !== '\n') await send(output, pktLine(`${NO_OBJECT} capabilities^{}${tail}`))
  await send(output, FLUSH)
}

/** `<id> <ref>` lines, in batches as they become ready. Latin1, because a name may contain any bytes. */
async function* refLines(dir: string, options: AdvertiseOptions): AsyncGenerator<string[]> {
  const { signal, deadline = MINUTE, hideRefs = [] } = options
  const isShown = (line: string) => {
    const name = line.slice(NO_OBJECT.length + 1)
    return isForPushes(name) && !hideRefs.some((hidden) => `${name}/`.startsWith(`${hidden}/`))
  }
  const stored = await readRefs(dir)
  if (stored) return yield stored.map(({ id, name }) => `${id} ${Buffer.from(name).toString('latin1')}`).filter(isShown)
  const listing = gitStream(dir, ['for-each-ref', '--format=%(objectname) %(refname)'], { signal, deadline })
  let rest = ''
  for await (const text of listing.setEncoding('latin1') as AsyncIterable<string>) {
    const lines = (rest + text).split('\n')
    rest = lines.pop()!
    yield lines.filter(isShown)
  }
}
