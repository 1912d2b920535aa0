/** Tracks connections: limits the unauthenticated ones, and knows which are busy when the server closes. */
import type { Socket } from 'node:net'
import { networkOf } from '../../lib/net/addresses.ts'

export interface GuestLimits {
  /** Milliseconds from the first byte to an authenticated key. */
  readonly loginGrace: number
  /** The limit in total, and per address. */
  readonly connections: number
  readonly connectionsOfOne: number
  /** The limit of unauthenticated connections in total, and per address. */
  readonly unproven: number
  readonly unprovenOfOne: number
  /** Milliseconds that a connection may stay without a command. */
  readonly idle: number
}

/** The time for a client to disconnect by itself. */
const PARTING_MS = 1000

export class Guest {
  readonly socket: Socket
  /** The network that limits count by. */
  readonly network: string
  readonly #limits: GuestLimits
  #proven = false
  #busy = 0
  #isLeaving = false
  #timer: NodeJS.Timeout

  constructor(socket: Socket, network: string, limits: GuestLimits) {
    this.socket = socket
    this.network = network
    this.#limits = limits
    this.#timer = setTimeout(() => socket.destroy(), limits.loginGrace)
    socket.once('close', () => clearTimeout(this.#timer))
  }

  get isProven(): boolean {
    return this.#proven
  }

  get isBusy(): boolean {
    return this.#busy > 0
  }

  proven(): void {
    this.#proven = true
    this.#rest()
  }

  /** Closes a connection without a command after a while, or at once when the server closes. */
  async during(work: () => Promise<void>): Promise<void> {
    this.#busy++
    clearTimeout(this.#timer)
    try {
      await work()
    } finally {
      this.#busy--
      if (this.#busy === 0) this.#rest()
    }
  }

  leave(): void {
    this.#isLeaving = true
    if (this.#busy === 0) this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#timer)
    if (this.socket.destroyed) return
    if (this.#isLeaving) this.socket.end()
    this.#timer = setTimeout(() => this.socket.destroy(), this.#isLeaving ? PARTING_MS : this.#limits.idle)
  }
}

export class Guests {
  readonly #limits: GuestLimits
  readonly #guests = new Map<string, Guest>()

  constructor(limits: GuestLimits) {
    this.#limits = limits
  }

  /** False if a limit is reached. Closes idle connections of the address that has the most, to accept new ones. */
  admit(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket
    if (remoteAddress === undefined || remotePort === undefined) return false
    const limits = this.#limits
    const network = networkOf(remoteAddress)
    const all = [...this.#guests.values()]
    const unproven = all.filter(({ isProven }) => !isProven)
    const ofThisOne = (guests: Guest[]) => guests.filter((guest) => guest.network === network).length
    if (ofThisOne(all) >= limits.connectionsOfOne || ofThisOne(unproven) >= limits.unprovenOfOne) return false
    if (unproven.length >= limits.unproven) this.#dismissOneOf(unproven)
    else if (all.length >= limits.connections && !this.#dismissOneOf(all.filter(({ isBusy }) => !isBusy))) return false
    const key = keyOf(remoteAddress, remotePort)
    this.#guests.set(key, new Guest(socket, network, limits))
    socket.once('close', () => this.#forget(key, socket))
    return true
  }

  /** Closes the oldest connection of the address that has the most. False if there is none. */
  #dismissOneOf(guests: readonly Guest[]): boolean {
    const counts = new Map<string, number>()
    for (const { network } of guests) counts.set(network, (counts.get(network) ?? 0) + 1)
    const most = Math.max(...counts.values())
    const last = guests.find(({ network }) => counts.get(network) === most)
    if (!last) return false
    const { socket } = last
    // Forgets the connection at once instead of on close, because other clients may already wait.
    this.#forget(keyOf(socket.remoteAddress ?? '', socket.remotePort ?? 0), socket)
    socket.destroy()
    return true
  }

  /** Another client may have the same address and port by now. */
  #forget(key: string, socket: Socket): void {
    if (this.#guests.get(key)?.socket === socket) this.#guests.delete(key)
  }

  find(address: string, port: number): Guest | undefined {
    return this.#guests.get(keyOf(address, port))
  }

  sendHome(): void {
    for (const guest of this.#guests.values()) guest.leave()
  }

  /** Closes all connections, busy or not. */
  showOut(): void {
    for (const { socket } of this.#guests.values()) socket.destroy()
  }
}

const keyOf = (address: string, port: number) => `${address} ${port}`
