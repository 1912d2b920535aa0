/**
 * Receives pushes without hooks. Objects wait in a quarantine until they are complete, checked and accepted by the
 * caller's gate. Then they join the repository, then the refs move in one transaction, then the client gets the report.
 * A process that dies on the way leaves at most a quarantine, and never a ref to a missing object.
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
  /** For commands that must see the pushed objects. */
  readonly environment: Readonly<Record<string, string>>
  /** The pushed pack if it is small. Null if git must read the objects. */
  pack(): Promise<SmallPack | null>
}

/** `refuse` rejects all refs of the push. The client shows the messages, one or more lines each. */
export type Gate = (push: Push) => Promise<{ readonly refuse: string } | { readonly messages?: readonly string[] }>

export interface ReceiveOptions {
  readonly input: Readable
  /** The size of the whole request in bytes, if known. */
  readonly size?: number | undefined
  /** The function does not end the stream. */
  readonly output: Writable
  /** Commands only, as over HTTP. Otherwise the session starts with the refs. */
  readonly stateless: boolean
  /** As the client sent it. */
  readonly protocol?: string | undefined
  readonly gate: Gate
  /** Called with the refs that have moved, durably. The client waits for it. */
  afterwards?(moved: readonly RefUpdate[], push: Push): Promise<{ readonly messages?: readonly string[] } | void>
  /** The message for the client after a failure. Null if the client must not learn the reason. */
  explain?(failure: unknown): string | null
  /** Checked until the gate has accepted the push. After that the push completes. */
  readonly signal?: AbortSignal | undefined
  readonly limits?: PushLimits
}

export interface PushLimits {
  readonly packBytes?: number
  /** The memory limit of git for one object. */
  readonly objectBytes?: number
  /** The limit of commands and options. */
  readonly requestBytes?: number
  /** Milliseconds that the client may be silent. */
  readonly idle?: number
  /** Milliseconds for receiving and indexing the pack. */
  readonly deadline?: number
}

export interface PushResult {
  readonly moved: readonly RefUpdate[]
  readonly refused: readonly { readonly ref: string; readonly reason: string }[]
}

/** A client is silent while it compresses, which takes minutes for large pushes. */
const IDLE_MS = HOUR

/** The size that git sends in one piece over HTTP. */
const SMALL = 1024 * 1024

/** One ref update of the push, and why it failed. */
interface CommandState {
  readonly command: PushCommand
  reason: string | null
  isMoved: boolean
}

/**
 * Rejections are reported to the client and returned. Throws if no client is left to report to: `BadPktLine` and
 * `BadPush` before anything was written, `ClientDisconnected`, `ClientTooSlow`, or the signal's reason. Also throws
 * internal failures, including those of the gate and of `afterwards`, after the client got its part of the message.
 */
export async function receivePack(dir: string, options: ReceiveOptions): Promise<PushResult> {
  const { input, output, stateless, signal, limits = {} } = options
  if (!stateless) await advertiseForPushes(dir, options)
  const reader = new PushReader(input, { idle: limits.idle ?? IDLE_MS, signal })
  const request = await reader.request({ maxBytes: limits.requestBytes ?? 32 * 1024 * 1024 })
  if (!request) return { moved: [], refused: [] }

  using report = new PushReport(output, request.capabilities)
  const states = statesOf(request)
  let failure: unknown
  try {
    await fulfil({ dir, request, states, reader, report }, options)
  } catch (error) {
    if (signal?.aborted || error instanceof ClientDisconnected || error instanceof ClientTooSlow) throw error
    failure = error
    const reason = options.explain?.(error) ?? 'internal error'
    refuseAll(
      states.filter(({ isMoved }) => !isMoved),
      reason,
    )
  }
  reader.release()
  await report.finish(states)
  if (failure) throw failure
  return resultOf(states)
}

interface Reception {
  readonly dir: string
  readonly request: PushRequest
  readonly states: readonly CommandState[]
  readonly reader: PushReader
  readonly report: PushReport
}

async function fulfil(reception: Reception, options: ReceiveOptions): Promise<void> {
  const { dir, request, states, report } = reception
  const { gate, afterwards, signal, size = Infinity, limits = {} } = options
  // A push with only deletions has no pack.
  const hasPack = !request.commands.every(isDeletion)
  await using quarantine = hasPack ? await openQuarantine(dir, { ...limits, isSmall: size <= SMALL }) : null
  if (quarantine && !(await takePack(quarantine, reception, { signal, limits }))) return
  refuseIfAtomic(request, states)
  const updates = updatesOf(states)
  if (updates.length === 0) return

  const pack = () => quarantine?.pack() ?? Promise.resolve(null)
  const push = { updates, options: request.options, environment: quarantine?.environment ?? {}, pack }
  const verdict = await gate(push)
  signal?.throwIfAborted()
  if ('refuse' in verdict) {
    await report.say([verdict.refuse])
    return refuseAll(states, 'pre-receive hook declined')
  }
  await report.say(verdict.messages)
  const small = await pack()
  const ready = quarantine?.accept() ?? Promise.resolve()
  const moving = move(reception, { ready, isCommit: (id) => small?.isCommit(id) ?? false })
  // The quarantine is deleted next, so no work may still use it.
  await Promise.allSettled([ready, moving])
  await ready
  await moving
  const moved = updatesOf(states)
  if (!afterwards) return
  const words = await afterwards(moved, push)
  await report.say(words?.messages)
}

/** True if the remaining refs may point to the received objects. */
async function takePack(
  quarantine: Quarantine,
  { request, states, reader, report }: Reception,
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
    refuseAll(states, request.isShallow ? 'shallow update not allowed' : 'unpacker error')
    return false
  }
  const ids = new Set(updatesOf(states).flatMap((update) => (isDeletion(update) ? [] : [update.after])))
  if (ids.size > 0 && !(await quarantine.isComplete([...ids])))
    for (const state of states)
      if (!isDeletion(state.command))
        state.reason ??= request.isShallow ? 'shallow update not allowed' : 'missing necessary objects'
  return true
}

const megabytes = (bytes: number) => `${Math.round((bytes / 1024 / 1024) * 100) / 100} MB`

/** Moves the refs one by one if they cannot move together: a ref that lost a race must not fail the others. */
async function move({ dir, request, states, report }: Reception, arrival: Arrival): Promise<void> {
  const accepted = states.filter((state) => state.reason === null)
  const attempt = async (some: readonly CommandState[], reason: string | null) => {
    try {
      await moveRefs(dir, updatesOf(some), arrival)
      for (const state of some) state.isMoved = true
    } catch (error) {
      if (!isRefused(error)) throw error
      if (reason === null) return false
      await report.say([`error: ${wordsOf(error)}`])
      refuseAll(some, reason)
    }
    return true
  }
  if (request.capabilities.has('atomic')) return void (await attempt(accepted, 'atomic transaction failed'))
  if (accepted.length > 1 && (await attempt(accepted, null))) return
  for (const state of accepted) await attempt([state], 'failed to update ref')
}

const isRefused = (error: unknown): error is Error =>
  error instanceof RefMoved ||
  error instanceof RefInTheWay ||
  (error instanceof GitFailed && error.reason === 'exit' && !isDiskFull(error))

// Git's own messages contain local paths.
function wordsOf(error: Error): string {
  if (error instanceof GitFailed) return 'the ref cannot be written'
  const { message, ref: name } = error as RefMoved | RefInTheWay
  return name === null ? message : `${message}: ${name}`
}

function statesOf({ commands }: PushRequest): CommandState[] {
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
    // An invalid text is not a valid name either.
    ref(command.ref ?? '')
  } catch (error) {
    if (error instanceof UnsafeArgument) return 'funny refname'
    throw error
  }
  if (!isForPushes(command.ref!)) return `deny ${isDeletion(command) ? 'deleting' : 'updating'} a hidden ref`
  if (isDeletion(command)) return command.before === NO_OBJECT ? 'no such ref' : null
  // Users may still delete such a ref that came with an import.
  return isUnmistakable(command.ref!) ? null : 'funny refname'
}

const updatesOf = (states: readonly CommandState[]): RefUpdate[] =>
  states
    .filter((state) => state.reason === null)
    .map(({ command: { before, after, ref: name } }) => ({ ref: name!, before, after }))

function refuseAll(states: readonly CommandState[], reason: string): void {
  for (const state of states) state.reason ??= reason
}

function refuseIfAtomic({ capabilities }: PushRequest, states: readonly CommandState[]): void {
  if (capabilities.has('atomic') && states.some((state) => state.reason !== null))
    refuseAll(states, 'atomic push failure')
}

const resultOf = (states: readonly CommandState[]): PushResult => ({
  moved: updatesOf(states),
  refused: states.flatMap(({ command, reason }) => (reason === null ? [] : [{ ref: command.name.toString(), reason }])),
})
