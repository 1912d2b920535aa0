/**
 * Connections that hold something for as long as their client reads or sends. Every ten seconds each is looked at: a
 * client that has something to take, or owes something, and moved too few bytes between several looks in succession is
 * cut off, and all that it held is freed. Silence of our own making (git is thinking, a queue is long) does not count.
 */
import { readFile, readlink } from 'node:fs/promises'
import type { Socket } from 'node:net'

const LOOK_MS = 10_000
/** 1 KB a second: slower lines are of no use for git or pages. */
const LEAST_PER_LOOK = 10_240
/** The system's buffers empty in leaps, so that one look may miss the progress of a slow reader. */
const READER_PATIENCE = 3
/** Git may search for objects between two of those that it sends. */
const SENDER_PATIENCE = 6

export interface Transfer {
  /** Whether it is the client's turn: bytes wait for it, or are awaited from it. */
  isDue(): boolean
  /** Bytes that have passed so far. */
  moved(): number
  end(): void
  /** Looks in succession without enough progress. */
  readonly patience: number
  /** What was sent may still wait in the system's buffer for this one. */
  readonly socket?: Socket
}

interface Progress {
  strikes: number
  /** At the last look; null where it was not the client's turn. */
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

  /** All that is sent on a connection. */
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

  /** One channel of a connection that has several; `moved` counts what the channel took. */
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

/** Node's own handle tells of a long write how much the system has taken so far; the stream only when all is taken. */
const handleOf = (socket: Socket) => (socket as unknown as { readonly _handle: Handle | null })._handle

function handedOver(socket: Socket): number {
  const handle = handleOf(socket)
  return handle ? handle.bytesWritten - handle.writeQueueSize : socket.bytesWritten - socket.writableLength
}

const TABLES = ['/proc/net/tcp', '/proc/net/tcp6']

/** Bytes that the system has taken from us and the other side has not yet; empty where the system does not tell. */
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
