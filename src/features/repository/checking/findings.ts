export interface Finding {
  readonly path: string
  readonly faults: readonly string[]
  /**
   * Files that killed processes left behind. They do no harm. Sweeps delete them in time, and a repair deletes them at
   * once.
   */
  readonly leftovers?: readonly string[]
  /** The actions of a repair. */
  readonly repairs?: readonly string[]
}

export interface CheckOptions {
  /** Repairs everything that can be repaired without loss. */
  readonly repair?: boolean
}
