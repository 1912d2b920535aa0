/** The commits that a running merge puts on the target, as stored in the row. */
export interface Merging {
  readonly commit: string
  readonly mergeCommit: string | null
  readonly squashCommit: string | null
  readonly by: number
  readonly at: string
  /** The process that merges. Rows of older versions have none. */
  readonly holder?: string
}
