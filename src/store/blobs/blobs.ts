/**
 * Blob store: uploaded files (avatars, uploads, artifacts), named by the digest of their content, in a folder or in a
 * bucket of an S3-compatible store. Both give the same guarantees: content streams in both directions in constant
 * memory, equal content is stored once, a blob is complete or absent, and a stored blob survives a power failure.
 */
import type { Readable } from 'node:stream'

export interface Blob {
  /** SHA-256 of the content, 64 lower-case hex digits. */
  readonly digest: string
  readonly size: number
}

/** As in HTTP: positions from zero, with the end included. Without an end, the range is the rest of the blob. */
export interface Range {
  readonly start: number
  readonly end?: number
}

export interface Blobs {
  /**
   * Rejects content over the limit as `too_large`. A failure stores nothing and leaves the rest of the source unread
   * but open, so that a request can still be answered.
   */
  put(content: Readable | Uint8Array, options?: { limit?: number }): Promise<Blob>
  /**
   * Null if there is no such blob. The size is that of the whole blob; a range beyond its end is cut off. The caller
   * must read the stream to its end or destroy it.
   */
  open(digest: string, range?: Range): Promise<{ size: number; stream: Readable } | null>
  has(digest: string): Promise<boolean>
  /** Removing a missing blob is no error. */
  remove(digest: string): Promise<void>
  /** All blobs, and when each was last stored; null if the store cannot list them. */
  list(): AsyncIterable<{ digest: string; modified: Date }> | null
  /** Rejects with the reason while blobs cannot be stored. */
  check(): Promise<void>
  /** Whether all nodes share this store. A failure of a shared store does not make a single node unhealthy. */
  readonly isShared: boolean
}

/** The bucket cannot be reached, or fails at the moment. Whether anything was stored or removed is unknown. */
export class BlobStoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'BlobStoreUnavailable'
  }
}
