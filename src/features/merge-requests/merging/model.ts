/** What is about to be put onto the target, as it stands in the row. */
export interface Merging {
  readonly commit: string
  readonly mergeCommit: string | null
  readonly squashCommit: string | null
  readonly by: number
  readonly at: string
  /** The process that merges; older versions name none. */
  readonly holder?: string
}
