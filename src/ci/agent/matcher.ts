/**
 * Finds many patterns in a stream of bytes and reads each byte once (Aho-Corasick). Each node of the tree of patterns
 * stands for the longest suffix of the bytes read so far that is a prefix of a pattern.
 */
const ROOT = 0

export class Matcher {
  /** The children of the root, by byte. */
  readonly #first = new Int32Array(256)
  readonly #byte: Uint8Array
  readonly #child: Int32Array
  readonly #sibling: Int32Array
  /** The node of the longest proper suffix. */
  readonly #shorter: Int32Array
  /** Length of the longest pattern that ends at the node. */
  readonly #found: Int32Array
  /** Length of the longest suffix that a longer pattern starts with. */
  readonly #open: Int32Array
  #size = 1
  #node = ROOT

  constructor(patterns: readonly Buffer[]) {
    const most = patterns.reduce((sum, { length }) => sum + length, 1)
    this.#byte = new Uint8Array(most)
    const numbers = () => new Int32Array(most)
    this.#child = numbers()
    this.#sibling = numbers()
    this.#shorter = numbers()
    this.#found = numbers()
    this.#open = numbers()
    for (const pattern of patterns) this.#add(pattern)
    this.#link()
  }

  /** How many of the last bytes may be the start of a pattern. */
  get open(): number {
    return this.#open[this.#node]!
  }

  reset(): void {
    this.#node = ROOT
  }

  /** Calls back with the longest pattern that ends at a position, in order. */
  read(text: Buffer, from: number, found: (end: number, length: number) => void): void {
    let node = this.#node
    for (let at = from; at < text.length; at++) {
      node = this.#next(node, text[at]!)
      const length = this.#found[node]!
      if (length > 0) found(at + 1, length)
    }
    this.#node = node
  }

  #next(from: number, byte: number): number {
    for (let node = from; node !== ROOT; node = this.#shorter[node]!) {
      const child = this.#childOf(node, byte)
      if (child !== ROOT) return child
    }
    return this.#first[byte]!
  }

  #childOf(node: number, byte: number): number {
    if (node === ROOT) return this.#first[byte]!
    let child = this.#child[node]!
    while (child !== ROOT && this.#byte[child] !== byte) child = this.#sibling[child]!
    return child
  }

  #add(pattern: Buffer): void {
    let node = ROOT
    for (const byte of pattern) node = this.#childOf(node, byte) || this.#grow(node, byte)
    this.#found[node] = pattern.length
  }

  #grow(node: number, byte: number): number {
    const child = this.#size++
    this.#byte[child] = byte
    if (node === ROOT) this.#first[byte] = child
    else {
      this.#sibling[child] = this.#child[node]!
      this.#child[node] = child
    }
    return child
  }

  /** Level by level, because the suffix of a node lies on a level above it. */
  #link(): void {
    let level = [...this.#first].filter((node) => node !== ROOT)
    for (let depth = 1; level.length > 0; depth++) {
      const below: number[] = []
      for (const node of level) {
        const shorter = this.#shorter[node]!
        this.#found[node] ||= this.#found[shorter]!
        this.#open[node] = this.#child[node] === ROOT ? this.#open[shorter]! : depth
        for (let child = this.#child[node]!; child !== ROOT; child = this.#sibling[child]!) {
          this.#shorter[child] = this.#next(shorter, this.#byte[child]!)
          below.push(child)
        }
      }
      level = below
    }
  }
}
