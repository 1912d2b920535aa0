/**
 * Detects stalled connections that keep resources as long as their client reads or sends. Every ten seconds each
 * connection is checked: a client that has data to read, or must send data, and moved too few bytes in several
 * successive checks is disconnected, and its resources are freed. Silence on our side (git is busy, a queue is long)
 * does not count.
 */
import { readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'

const LOOK_MS = 10_000
/** 1 KB per second: slower connections are of no use for git or pages. */
const LEAST_PER_LOOK = 10_240
/** The system's buffers empty in bursts, so a single check may miss the progress of a slow reader. */
const READER_PATIENCE = 3
/** Git may search for objects between two that it sends. */
const SENDER_PATIENCE = 6

export interface Transfer {
  /** Whether the client must act: data is waiting for it, or expected from it. */
  isDue(): boolean
  /** Bytes transferred so far. */
  moved(): number
  end(): void
  /** The number of successive checks without enough progress. */
  readonly patience: number
  /** Sent data may still be in the system's buffer of this socket. */
  readonly socket?: Socket
}

interface Progress {
  strikes: number
  /** Bytes at the last check; null if the client did not have to act. */
  moved: number | null
}

export class Stalls {
  readonly #transfers = new Map<Transfer, Progress>()
  #timer: NodeJS.Timeout | null = null

  /** Watches until the returned function is called. */
  watch(transfer: Transfer): () => void {
    this.#transfers.set(transfer, { strikes: 0, moved: null })
    this.#timer ??= setInterval(() => void this.look(), LOOK_MS).unref()
    return () => {
      this.#transfers.delete(transfer)
      if (this.#transfers.size > 0 || this.#timer === null) return
      clearInterval(this.#timer)
      this.#timer = null
    }
  }

  /** Everything that is sent on a connection. */
  watchReader(socket: Socket): void {
    const transfer: Transfer = {
      isDue: () => socket.writableLength > 0,
      moved: () => handedOver(socket),
      end: () => socket.destroy(),
      patience: READER_PATIENCE,
      socket,
    }
    socket.once('close', this.watch(transfer))
  }

  /** One channel of a connection with several; `moved` counts the bytes that the channel took. */
  watchChannel(channel: Omit<Transfer, 'patience'>): () => void {
    return this.watch({ ...channel, patience: READER_PATIENCE })
  }

  watchSender(sender: Omit<Transfer, 'patience' | 'socket'>): () => void {
    return this.watch({ ...sender, patience: SENDER_PATIENCE })
  }

  async look(): Promise<void> {
    const due: [Transfer, Progress][] = []
    for (const [transfer, progress] of this.#transfers) {
      if (transfer.isDue()) due.push([transfer, progress])
      else Object.assign(progress, { strikes: 0, moved: null })
    }
    if (due.length === 0) return
    const queues = await sendQueues(due.flatMap(([{ socket }]) => socket ?? []))
    for (const [transfer, progress] of due) {
      const moved = transfer.moved() - ((transfer.socket && queues.get(transfer.socket)) ?? 0)
      const isStalled = progress.moved !== null && moved - progress.moved < LEAST_PER_LOOK
      progress.strikes = isStalled ? progress.strikes + 1 : 0
      progress.moved = moved
      if (progress.strikes >= transfer.patience) transfer.end()
    }
  }
}

interface Handle {
  readonly fd: number
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

/**
 * Node's internal handle reports how much of a long write the system has taken so far; the stream reports only the end.
 */
const handleOf = (socket: Socket) => (socket as unknown as { readonly _handle: Handle | null })._handle

function handedOver(socket: Socket): number {
  const handle = handleOf(socket)
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Bytes in the system's send buffers that the other side has not taken yet; empty if the system does not tell. */
async function sendQueues(sockets: readonly Socket[]): Promise<Map<Socket, number>> {
  const byInode = new Map<string, number>()
  for (const table of TABLES) {
    const text = await readFile(table, 'latin1').catch(() => '')
    for (const line of text.split('\n').slice(1)) {
      const words = line.trim().split(/ +/, 10)
      if (words.length === 10) byInode.set(words[9]!, Number.parseInt(words[4]!, 16))
    }
  }
  const queues = new Map<Socket, number>()
  if (byInode.size === 0) return queues
  for (const socket of sockets) {
    const fd = handleOf(socket)?.fd ?? -1
    const link = fd < 0 ? '' : await readlink(`/proc/self/fd/${fd}`).catch(() => '')
    const [, inode = ''] = /^socket:\[(\d+)\]$/.exec(link) ?? []
    if (byInode.has(inode)) queues.set(socket, byInode.get(inode)!)
  }
  return queues
}
