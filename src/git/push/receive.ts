/**
 * Pushes, received without hooks: objects wait in a quarantine until they are whole, checked and let through by the
 * caller's gate; then they join the repository, then the refs move in one transaction, then the client hears of it. A
 * process that dies on the way leaves at most a quarantine, and never a ref that points at nothing.
 */
import { Readable, type Writable } from 'node:stream'
import { HOUR } from '../../clock.ts'
import { isDiskFull } from '../../lib/files/system-errors.ts'
import { advertiseForPushes } from '../fetch/advertisement.ts'
import { isUnmistakable, ref, UnsafeArgument } from '../process/arguments.ts'
import { GitFailed } from '../process/command.ts'
import { isForPushes } from '../refs/namespaces.ts'
import { ClientDisconnected } from '../protocol/sending.ts'
import { PushReport } from './push-report.ts'
import {
  ClientTooSlow,
  isDeletion,
  PackTooLarge,
  PushReader,
  type PushCommand,
  type PushRequest,
} from './push-request.ts'
import { BadPack, openQuarantine, type Quarantine } from './quarantine.ts'
import { moveRefs, NO_OBJECT, RefInTheWay, RefMoved, type Arrival, type RefUpdate } from '../refs/update.ts'
import type { SmallPack } from './small-pack.ts'

export interface Push {
  readonly updates: readonly RefUpdate[]
  readonly options: readonly string[]
  /** For commands that are to see the pushed objects. */
  readonly environment: Readonly<Record<string, string>>
  /** What was pushed, if it is little; null where git must be asked. */
  pack(): Promise<SmallPack | null>
}

/** `refuse` is for all refs of the push; words are shown to the client, a line each or more. */
export type Gate = (push: Push) => Promise<{ readonly refuse: string } | { readonly messages?: readonly string[] }>

export interface ReceiveOptions {
  readonly input: Readable
  /** Bytes of the whole request, where they are known. */
  readonly size?: number | undefined
  /** Is not ended. */
  readonly output: Writable
  /** Commands alone, as over HTTP; otherwise the refs are told first. */
  readonly stateless: boolean
  /** As the client sent it. */
  readonly protocol?: string | undefined
  readonly gate: Gate
  /** What has moved, durably; the client waits for it. */
  afterwards?(moved: readonly RefUpdate[], push: Push): Promise<{ readonly messages?: readonly string[] } | void>
  /** What the client is told of a failure; null where that is none of its business. */
  explain?(failure: unknown): string | null
  /** Heeded until the gate has spoken: from then on the push goes through. */
  readonly signal?: AbortSignal | undefined
  readonly limits?: PushLimits
}

export interface PushLimits {
  readonly packBytes?: number
  /** The most git may hold of one object. */
  readonly objectBytes?: number
  /** Of commands and options. */
  readonly requestBytes?: number
  /** Milliseconds the client may be silent. */
  readonly idle?: number
  /** Milliseconds for the pack to come and be understood. */
  readonly deadline?: number
}

export interface PushResult {
  readonly moved: readonly RefUpdate[]
  readonly refused: readonly { readonly ref: string; readonly reason: string }[]
}

/** A client says nothing while it compresses, which takes minutes for what is large. */
const IDLE_MS = HOUR

/** As much as git sends in one piece over HTTP. */
const SMALL = 1024 * 1024

/** One wish of the push, and why it was not fulfilled. */
interface Options {
  readonly command: PushCommand
  reason: string | null
  isMoved: boolean
}

/**
 * Refusals are told to the client, and are answered. Thrown is what leaves nobody to tell: `BadPktLine` and `BadPush`
 * before anything was written, `ClientGone`, `ClientTooSlow`, the signal's reason; and what failed here, the gate or
 * `afterwards` included, after the client was told as far as it concerns it.
 */
export async function receivePack(dir: string, options: ReceiveOptions): Promise<PushResult> {
  const { input, output, stateless, signal, limits = {} } = options
  if (!stateless) await advertiseForPushes(dir, options)
  const reader = new PushReader(input, { idle: limits.idle ?? IDLE_MS, signal })
  const request = await reader.request({ maxBytes: limits.requestBytes ?? 32 * 1024 * 1024 })
  if (!request) return { moved: [], refused: [] }

  using report = new PushReport(output, request.capabilities)
  const inputs = inputsOf(request)
  let failure: unknown
  try {
    await fulfil({ dir, request, wishes: inputs, reader, report }, options)
  } catch (error) {
    if (signal?.aborted || error instanceof ClientDisconnected || error instanceof ClientTooSlow) throw error
    failure = error
    const reason = options.explain?.(error) ?? 'internal error'
    refuseAll(
      inputs.filter(({ isMoved }) => !isMoved),
      reason,
    )
  }
  reader.release()
  await report.finish(inputs)
  if (failure) throw failure
  return resultOf(inputs)
}

interface Reception {
  readonly dir: string
  readonly request: PushRequest
  readonly wishes: readonly Options[]
  readonly reader: PushReader
  readonly report: PushReport
}

async function fulfil(reception: Reception, options: ReceiveOptions): Promise<void> {
  const { dir, request, wishes: inputs, report } = reception
  const { gate, afterwards, signal, size = Infinity, limits = {} } = options
  // Deletions alone come without a pack.
  const hasPack = !request.commands.every(isDeletion)
  await using quarantine = hasPack ? await openQuarantine(dir, { ...limits, isSmall: size <= SMALL }) : null
  if (quarantine && !(await takePack(quarantine, reception, { signal, limits }))) return
  refuseIfAtomic(request, inputs)
  const updates = updatesOf(inputs)
  if (updates.length === 0) return

  const pack = () => quarantine?.pack() ?? Promise.resolve(null)
  const push = { updates, options: request.options, environment: quarantine?.environment ?? {}, pack }
  const verdict = await gate(push)
  signal?.throwIfAborted()
  if ('refuse' in verdict) {
    await report.say([verdict.refuse])
    return refuseAll(inputs, 'pre-receive hook declined')
  }
  await report.say(verdict.messages)
  const small = await pack()
  const ready = quarantine?.accept() ?? Promise.resolve()
  const moving = move(reception, { ready, isCommit: (id) => small?.isCommit(id) ?? false })
  // The quarantine goes next: nobody may still be at it.
  await Promise.allSettled([ready, moving])
  await ready
  await moving
  const moved = updatesOf(inputs)
  if (!afterwards) return
  const words = await afterwards(moved, push)
  await report.say(words?.messages)
}

/** True when the refs that are left may point at what it brought. */
async function takePack(
  quarantine: Quarantine,
  { request, wishes: inputs, reader, report }: Reception,
  { signal, limits }: { signal: AbortSignal | undefined; limits: PushLimits },
): Promise<boolean> {
  try {
    const pack = Readable.from(reader.pack({ maxBytes: limits.packBytes ?? Infinity }))
    await quarantine.receive(pack, { signal, onStderr: (text) => report.progress(text) })
  } catch (error) {
    if (!(error instanceof BadPack || error instanceof PackTooLarge)) throw error
    if (error instanceof PackTooLarge)
      await report.say([`error: a push may bring ${megabytes(limits.packBytes!)} at most`])
    report.unpacked = error.message
    refuseAll(inputs, request.isShallow ? 'shallow update not allowed' : 'unpacker error')
    return false
  }
  const ids = new Set(updatesOf(inputs).flatMap((update) => (isDeletion(update) ? [] : [update.after])))
  if (ids.size > 0 && !(await quarantine.isComplete([...ids])))
    for (const wish of inputs)
      if (!isDeletion(wish.command))
        wish.reason ??= request.isShallow ? 'shallow update not allowed' : 'missing necessary objects'
  return true
}

const megabytes = (bytes: number) => `${Math.round((bytes / 1024 / 1024) * 100) / 100} MB`

/** One after the other when they do not go together: who lost a race must not lose the others' too. */
async function move({ dir, request, wishes: inputs, report }: Reception, arrival: Arrival): Promise<void> {
  const wanted = inputs.filter((wish) => wish.reason === null)
  const attempt = async (some: readonly Options[], reason: string | null) => {
    try {
      await moveRefs(dir, updatesOf(some), arrival)
      for (const wish of some) wish.isMoved = true
    } catch (error) {
      if (!isRefused(error)) throw error
      if (reason === null) return false
      await report.say([`error: ${wordsOf(error)}`])
      refuseAll(some, reason)
    }
    return true
  }
  if (request.capabilities.has('atomic')) return void (await attempt(wanted, 'atomic transaction failed'))
  if (wanted.length > 1 && (await attempt(wanted, null))) return
  for (const wish of wanted) await attempt([wish], 'failed to update ref')
}

const isRefused = (error: unknown): error is Error =>
  error instanceof RefMoved ||
  error instanceof RefInTheWay ||
  (error instanceof GitFailed && error.reason === 'exit' && !isDiskFull(error))

// git's own words name files of ours.
function wordsOf(error: Error): string {
  if (error instanceof GitFailed) return 'the ref cannot be written'
  const { message, ref: name } = error as RefMoved | RefInTheWay
  return name === null ? message : `${message}: ${name}`
}

function inputsOf({ commands }: PushRequest): Options[] {
  const seen = new Set<string>()
  return commands.map((command) => {
    const key = command.name.toString('latin1')
    const reason = seen.has(key) ? 'multiple updates for ref not allowed' : objectionTo(command)
    seen.add(key)
    return { command, reason, isMoved: false }
  })
}

function objectionTo(command: PushCommand): string | null {
  try {
    // No text is no name either.
    ref(command.ref ?? '')
  } catch (error) {
    if (error instanceof UnsafeArgument) return 'funny refname'
    throw error
  }
  if (!isForPushes(command.ref!)) return `deny ${isDeletion(command) ? 'deleting' : 'updating'} a hidden ref`
  if (isDeletion(command)) return command.before === NO_OBJECT ? 'no such ref' : null
  // Whoever brought one along with an import may still take it away.
  return isUnmistakable(command.ref!) ? null : 'funny refname'
}

const updatesOf = (inputs: readonly Options[]): RefUpdate[] =>
  inputs
    .filter((wish) => wish.reason === null)
    .map(({ command: { before, after, ref: name } }) => ({ ref: name!, before, after }))

function refuseAll(inputs: readonly Options[], reason: string): void {
  for (const wish of inputs) wish.reason ??= reason
}

function refuseIfAtomic({ capabilities }: PushRequest, inputs: readonly Options[]): void {
  if (capabilities.has('atomic') && inputs.some((wish) => wish.reason !== null))
    refuseAll(inputs, 'atomic push failure')
}

const resultOf = (inputs: readonly Options[]): PushResult => ({
  moved: updatesOf(inputs),
  refused: inputs.flatMap(({ command, reason }) => (reason === null ? [] : [{ ref: command.name.toString(), reason }])),
})
