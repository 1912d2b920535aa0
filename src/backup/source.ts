/** The database of an instance, as a backup reads it. Values in the SQL texts are numbers, digests and times. */
import type { BlobColumn } from '../context.ts'
import type { Archive } from './archive.ts'
import type { DatabasePart } from './manifest.ts'

export interface Source extends AsyncDisposable {
  readonly engine: 'sqlite' | 'postgres'
  /** The newest commit. The snapshot before ends. */
  snapshot(): Promise<Snapshot>
  /** Rows of the database as it is now. */
  rows<T>(sql: string): Promise<T[]>
  /**
   * The right to write to a destination, which one process of the instance has at a time. False if another process has
   * it. The lease ends with the source or the process, however the process ends.
   */
  takeLease(destination: string): Promise<boolean>
  /** Rejects if the lease was lost. */
  assertLease(): Promise<void>
}

/** The database at one commit. */
export interface Snapshot {
  /** No later commit was confirmed before this time. */
  readonly time: Date
  /** Whether nothing of interest has changed since the last saved snapshot. */
  readonly isUnchanged: boolean
  readonly bytes: number
  /** How much has changed since the last saved snapshot. */
  readonly changedBytes: number
  rows<T>(sql: string): Promise<T[]>
  /** Rows by table. Reads all tables. */
  countRows(): Promise<Record<string, number>>
  /**
   * Digests that columns may have got since the last saved snapshot, among other texts that look like digests. Null if
   * that is unknown.
   */
  changedDigests(columns: readonly BlobColumn[]): Promise<ReadonlySet<string> | null>
  /** Stores everything; what an earlier complete part has is not stored again. */
  storeWhole(archive: Archive, before: DatabasePart | null): Promise<DatabasePart>
  /** Stores what differs from the last saved snapshot. */
  storeChanges(archive: Archive): Promise<DatabasePart>
  /** The archive has this snapshot. */
  saved(): void
}
