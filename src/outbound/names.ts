/**
 * Caches name resolution. The system resolves only a few names at a time, so names of dead servers would delay
 * everyone. A result is valid for a moment. If a refresh takes long, the old result is used meanwhile. Every result is
 * checked like any other address.
 */
import { allAddresses, type Lookup } from './guard.ts'

const MOST_NAMES = 1000
/** Milliseconds: until a refresh, until the result expires, and the wait for a refresh while an old result exists. */
const FRESH = 10_000
const USABLE = 300_000
const PATIENCE = 500

type Found = Awaited<ReturnType<Lookup>>

export class Names {
  readonly #known = new Map<string, { readonly found: Found; readonly at: number }>()
  readonly #asking = new Map<string, Promise<Found>>()
  readonly #ask: Lookup

  constructor(ask: Lookup = allAddresses) {
    this.#ask = ask
  }

  lookup: Lookup = async (host) => {
    const known = this.#known.get(host)
    const age = known ? performance.now() - known.at : Infinity
    if (known && age < FRESH) return known.found
    const lookup = this.#askOnce(host)
    return known && age < USABLE ? orAfterPatience(known.found, lookup) : lookup
  }

  #askOnce(host: string): Promise<Found> {
    const running = this.#asking.get(host)
    if (running) return running
    const lookup = this.#ask(host)
      .then((found) => this.#remember(host, found))
      .finally(() => this.#asking.delete(host))
    this.#asking.set(host, lookup)
    return lookup
  }

  #remember(host: string, found: Found): Found {
    this.#known.delete(host)
    this.#known.set(host, { found, at: performance.now() })
    const [oldest] = this.#known.keys()
    if (this.#known.size > MOST_NAMES) this.#known.delete(oldest!)
    return found
  }
}

/** A failure also counts as a result: the name may no longer exist. */
async function orAfterPatience(old: Found, lookup: Promise<Found>): Promise<Found> {
  const { promise, resolve } = Promise.withResolvers<Found>()
  const timer = setTimeout(() => resolve(old), PATIENCE)
  try {
    return await Promise.race([lookup, promise])
  } finally {
    clearTimeout(timer)
  }
}
