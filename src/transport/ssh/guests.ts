/** Who is connected: how many have proven nothing yet, and who is busy when the server is to close. */
import type { Socket } from 'node:net'

export interface GuestLimits {
  /** Milliseconds from the first byte to a proven key. */
  readonly loginGrace: number
  /** Connections without a proven key, in all and of one address. */
  readonly unproven: number
  readonly unprovenOfOne: number
  /** Milliseconds a connection may stay without a command. */
  readonly idle: number
}

/** How long a client may take to hang up by itself. */
const PARTING_MS = 1000

export class Guest {
  readonly socket: Socket
  readonly #limits: GuestLimits
  #proven = false
  #busy = 0
  #isLeaving = false
  #timer: NodeJS.Timeout

  constructor(socket: Socket, limits: GuestLimits) {
    this.socket = socket
    this.#limits = limits
    this.#timer = setTimeout(() => socket.destroy(), limits.loginGrace)
    socket.once('close', () => clearTimeout(this.#timer))
  }

  get isProven(): boolean {
    return this.#proven
  }

  proven(): void {
    this.#proven = true
    this.#rest()
  }

  /** A connection without a command ends after a while; at once when the server closes. */
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

  /** False where there is no room. */
  admit(socket: Socket): boolean {
    const { remoteAddress, remotePort } = socket
    if (remoteAddress === undefined || remotePort === undefined) return false
    const unproven = [...this.#guests.values()].filter(({ isProven }) => !isProven)
    const ofThisOne = unproven.filter((guest) => guest.socket.remoteAddress === remoteAddress)
    if (unproven.length >= this.#limits.unproven || ofThisOne.length >= this.#limits.unprovenOfOne) return false
    const key = keyOf(remoteAddress, remotePort)
    this.#guests.set(key, new Guest(socket, this.#limits))
    socket.once('close', () => this.#guests.delete(key))
    return true
  }

  find(address: string, port: number): Guest | undefined {
    return this.#guests.get(keyOf(address, port))
  }

  sendHome(): void {
    for (const guest of this.#guests.values()) guest.leave()
  }

  /** Whatever they are doing. */
  showOut(): void {
    for (const { socket } of this.#guests.values()) socket.destroy()
  }
}

const keyOf = (address: string, port: number) => `${address} ${port}`
