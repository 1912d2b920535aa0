/** Gives the caches less while memory is short: a cache saves time only, and whatever else needs memory would fail. */
import { getHeapStatistics } from 'node:v8'
import type { CacheBudget } from './cache-budget.ts'

export interface Usage {
  /** Bytes of the process in memory. */
  readonly resident: number
  readonly heap: number
  readonly heapLimit: number
}

const MB = 1024 * 1024
/** Of a busy process without its caches. */
const RESIDENT = 288 * MB
const HEAP_SHARE = 0.7
/** Less would cost more than it gives. */
const SMALLEST_SHARE = 1 / 8
const LOOK_EVERY_MS = 2000

export class CachePressure {
  readonly #budget: CacheBudget
  #share = 1

  constructor(budget: CacheBudget) {
    this.#budget = budget
  }

  /** Halves or doubles the share of the caches. Between the two marks it stays, so that it does not swing. */
  look({ resident, heap, heapLimit }: Usage): void {
    const use = Math.max(resident / (RESIDENT + this.#budget.most), heap / (HEAP_SHARE * heapLimit))
    const share = use > 1 ? Math.max(this.#share / 2, SMALLEST_SHARE) : use < 0.9 ? Math.min(this.#share * 2, 1) : null
    if (share === null || share === this.#share) return
    this.#share = share
    this.#budget.give(share)
  }
}

function usage(): Usage {
  const { used_heap_size, heap_size_limit } = getHeapStatistics()
  return { resident: process.memoryUsage.rss(), heap: used_heap_size, heapLimit: heap_size_limit }
}

/** Looks at the usage of this process until it is disposed. */
export function watchPressure(budget: CacheBudget): Disposable {
  const pressure = new CachePressure(budget)
  const timer = setInterval(() => pressure.look(usage()), LOOK_EVERY_MS).unref()
  return {
    [Symbol.dispose]() {
      clearInterval(timer)
      budget.give(1)
    },
  }
}
