import type { Clock } from '../clock.ts'
import type { ForgeClock } from './types.ts'

export class TestClock implements Clock, ForgeClock {
  #offset = 0
  #heldAt: number | null = null
  now(): Date {
    return new Date((this.#heldAt ?? Date.now()) + this.#offset)
  }
  advance(ms: number): void {
    this.#offset += ms
  }
  hold(): Disposable {
    this.#heldAt ??= Date.now()
    return { [Symbol.dispose]: () => (this.#heldAt = null) }
  }
  reset(): void {
    this.#offset = 0
    this.#heldAt = null
  }
}
