/**
 * One limit in bytes for all caches of a process. The entry that was used least recently goes first, whichever cache
 * has it: a limit per cache would have to be the sum of what each needs at its busiest moment, and nobody is busy with
 * everything at once.
 *
 * A use only marks an entry, and eviction passes by marked ones once (second chance): moving an entry at each use would
 * cost more than most lookups here. What is read once, however much of it, therefore never displaces what is in use.
 */
export class CacheBudget {
  readonly #first: Ends = { previous: null!, next: null! }
  readonly #names = new Map<string, number>()
  #most: number
  #limit: number
  #weight = 0

  constructor(most: number) {
    this.#most = this.#limit = most
    this.#first.previous = this.#first.next = this.#first
  }

  /** The limit without pressure. */
  get most(): number {
    return this.#most
  }

  get limit(): number {
    return this.#limit
  }

  /** The weight of each registered cache; caches of one name are added up. */
  get weights(): ReadonlyMap<string, number> {
    return this.#names
  }

  register(name: string): void {
    if (!this.#names.has(name)) this.#names.set(name, 0)
  }

  resize(most: number): void {
    this.#most = most
    this.#shrinkTo(most)
  }

  /** Under pressure, caches have a share of the limit, until another share is given. */
  give(share: number): void {
    this.#shrinkTo(Math.floor(this.#most * share))
  }

  add(entry: Entry): void {
    this.#evict(this.#limit - entry.weight)
    this.#append(entry)
    this.#count(entry, entry.weight)
  }

  remove(entry: Entry): void {
    this.#unlink(entry)
    this.#count(entry, -entry.weight)
  }

  #shrinkTo(limit: number): void {
    this.#limit = limit
    this.#evict(limit)
  }

  #evict(weight: number): void {
    while (this.#weight > weight) {
      const oldest = this.#first.next as Entry
      if (oldest.isUsed) {
        oldest.isUsed = false
        this.#unlink(oldest)
        this.#append(oldest)
      } else {
        oldest.cache.delete(oldest.key)
      }
    }
  }

  #append(entry: Entry): void {
    entry.next = this.#first
    entry.previous = this.#first.previous
    entry.previous.next = this.#first.previous = entry
  }

  #unlink({ previous, next }: Entry): void {
    previous.next = next
    next.previous = previous
  }

  #count({ cache: { name } }: Entry, weight: number): void {
    this.#weight += weight
    this.#names.set(name, (this.#names.get(name) ?? 0) + weight)
  }
}

interface Ends {
  previous: Ends
  next: Ends
}

export interface Entry extends Ends {
  /** `delete` removes the entry from the budget too. */
  readonly cache: { readonly name: string; delete(key: string): void }
  readonly key: string
  readonly weight: number
  isUsed: boolean
}

const MB = 1024 * 1024

/** Of this process; `MORTISE_CACHE_MEMORY` sets its limit. */
export const cacheBudget = new CacheBudget(64 * MB)
