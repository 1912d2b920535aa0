/**
 * Serves fetches with git itself. Bytes flow in both directions only as fast as the reader takes them, so memory stays
 * constant. Git and its child processes end when the client disconnects, stays silent or exceeds the deadline.
 */
import { Readable, type Writable } from 'node:stream'
import { HOUR, MINUTE } from '../../clock.ts'
import type { Program } from '../process/launcher.ts'
import { withheldIds } from '../objects/withheld.ts'
import { pktLine, PktLineDecoder } from '../protocol/pkt-line.ts'
import { protocolVersion, uploadSettings, type ProtocolVersion } from './advertisement.ts'
import { folder } from '../process/arguments.ts'
import { endGroup, GitFailed, startGit } from '../process/command.ts'
import { lsRefs } from './ls-refs.ts'
import { takeShort } from '../protocol/requests.ts'
import { ClientDisconnected, lossOr, send } from '../protocol/sending.ts'

export interface ServeOptions {
  readonly input: Readable
  /** The function does not end the stream. */
  readonly output: Writable
  readonly signal?: AbortSignal | undefined
  /** Milliseconds for the whole fetch. */
  readonly deadline?: number
  /** Milliseconds without a byte in either direction. */
  readonly idle?: number
  /** Messages for the user outside the protocol. SSH passes them on. */
  onStderr?(text: string): void
}

export interface UploadOptions extends ServeOptions {
  /** As the client sent it. */
  readonly protocol?: string | undefined
  /** One request and its answer, as over HTTP. Otherwise the whole session, starting with the refs. */
  readonly stateless: boolean
  /** Additional hidden refs. */
  readonly hideRefs?: readonly string[]
}

/**
 * Returns the exit code of git, for SSH to pass on. Other callers ignore a code other than 0: git has told the client
 * the reason. Or, over HTTP, git ended in the middle of a negotiation about depth that continues with the next request.
 */
export async function uploadPack(dir: string, options: UploadOptions): Promise<{ code: number }> {
  const version = protocolVersion(options.protocol)
  const input = options.stateless ? await requestBody(options) : options.input
  const refs = version === 2 && Buffer.isBuffer(input) ? await lsRefs(dir, input, options.hideRefs) : null
  if (refs) {
    await send(options.output, refs)
    return { code: 0 }
  }
  const stream = Buffer.isBuffer(input) ? Readable.from([input], { objectMode: false }) : input
  const isWithheld = await withheldIds(dir)
  if (!isWithheld) return serveUpload(dir, version, { ...options, input: stream })
  try {
    const checked = Readable.from(withoutWants(stream, isWithheld), { objectMode: false })
    return await serveUpload(dir, version, { ...options, input: checked })
  } catch (error) {
    if (!(error instanceof UnknownWant)) throw error
    await send(options.output, pktLine(`ERR ${error.message}\n`))
    return { code: 128 }
  }
}

function serveUpload(dir: string, version: ProtocolVersion, options: UploadOptions): Promise<{ code: number }> {
  const settings = uploadSettings(version, options.hideRefs)
  const mode = options.stateless ? (['--stateless-rpc'] as const) : []
  const child = startGit(dir, ['upload-pack', '--strict', ...mode, folder(dir)], settings)
  return serve('upload-pack', child, options)
}

class UnknownWant extends Error {
  constructor(id: string) {
    super(`upload-pack: not our ref ${id}`)
    this.name = 'UnknownWant'
  }
}

/** The client's input, up to the point where it requests a withheld object. Git would send any object that exists. */
async function* withoutWants(input: Readable, isWithheld: (id: string) => boolean): AsyncGenerator<Buffer> {
  const lines = new PktLineDecoder()
  for await (const chunk of input as AsyncIterable<Buffer>) {
    lines.push(chunk)
    for (let line = lines.next(); line !== null; line = lines.next()) {
      const id = Buffer.isBuffer(line) ? /^want ([0-9a-f]{40})/i.exec(line.toString('latin1', 0, 45))?.[1] : undefined
      if (id !== undefined && isWithheld(id.toLowerCase())) throw new UnknownWant(id)
    }
    yield chunk
  }
}

const SHORT = 64 * 1024

async function requestBody({ input, idle = IDLE_MS }: UploadOptions): Promise<Buffer | Readable> {
  try {
    return await takeShort(input, { longest: SHORT, idle })
  } catch (error) {
    throw lossOr(error as Error)
  }
}

/** `git archive --remote`, which only SSH has. */
export function uploadArchive(dir: string, options: ServeOptions): Promise<{ code: number }> {
  return serve('upload-archive', startGit(dir, ['upload-archive', folder(dir)]), options)
}

const MAX_STDERR = 4096
const IDLE_MS = 10 * MINUTE

async function serve(command: string, child: Program, options: ServeOptions): Promise<{ code: number }> {
  const { input, output, signal, deadline = 6 * HOUR, idle = IDLE_MS, onStderr } = options
  const { stdin, stdout, stderr } = child
  let words = ''
  let failure: Error | null = null

  const end = (error: Error) => {
    if (failure) return
    failure = error
    // Unread output must not keep git from ending.
    stdout.unpipe(output).resume()
    endGroup(child)
  }
  const tooLate = () => end(new GitFailed(command, 'deadline', null, words))
  const gone = () => end(new ClientDisconnected())
  const broken = (error: Error) => end(lossOr(error))
  const inputClosed = () => input.readableEnded || gone()
  const aborted = () => end(signal?.reason as Error)
  const timer = setTimeout(tooLate, deadline)
  const silence = setTimeout(tooLate, idle)
  const refresh = () => silence.refresh()

  signal?.addEventListener('abort', aborted)
  input.on('error', broken).on('close', inputClosed).on('data', refresh)
  output.on('error', gone).on('close', gone)
  stdout.on('data', refresh)
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MAX_STDERR)
    onStderr?.(text)
  })
  if (stdin) input.pipe(stdin.on('error', () => {}))
  stdout.pipe(output, { end: false })
  if (signal?.aborted) aborted()
  if (output.destroyed || (input.destroyed && !input.readableEnded)) gone()

  try {
    const code = await exitOf(command, child)
    if (failure) throw failure as Error
    return { code }
  } finally {
    clearTimeout(timer)
    clearTimeout(silence)
    signal?.removeEventListener('abort', aborted)
    if (stdin) input.unpipe(stdin)
    input.off('error', broken).off('close', inputClosed).off('data', refresh)
    output.off('error', gone).off('close', gone)
  }
}

function exitOf(command: string, child: Program): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  child.once('error', ({ message }) => reject(new GitFailed(command, 'start', null, message)))
  // A process killed by a signal has no exit code; shells report 128 or more.
  child.once('close', (code) => resolve(code ?? 128))
  return promise
}
