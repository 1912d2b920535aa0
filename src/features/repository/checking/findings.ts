export interface Finding {
  readonly path: string
  readonly faults: readonly string[]
  /** What killed processes left. It does no harm; sweeps remove it in time, and a repair at once. */
  readonly leftovers?: readonly string[]
  /** What a repair did. */
  readonly repairs?: readonly string[]
}

export interface CheckOptions {
  /** Mends what can be mended without loss. */
  readonly repair?: boolean
}
