import type { Clock } from '../clock.ts'
import type { ForgeClock } from './types.ts'

export class TestClock implements Clock, ForgeClock {
  #offset = 0
  #lockedAt: number | null = null
  now(): Date {
    return new Date((this.#lockedAt ?? Date.now()) + this.#offset)
  }
  advance(ms: number): void {
    this.#offset += ms
  }
  hold(): Disposable {
    this.#lockedAt ??= Date.now()
    return { [Symbol.dispose]: () => (this.#lockedAt = null) }
  }
  reset(): void {
    this.#offset = 0
    this.#lockedAt = null
  }
}
