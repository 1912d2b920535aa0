/**
 * Files of the product (avatars, uploads, artifacts), kept by the digest of their content: in a folder, or in a bucket
 * of any S3-compatible store. Both promise the same: content streams both ways in flat memory, the same content twice
 * is one blob, a blob is whole or not there at all, and one that was put is still there after a power cut.
 */
import type { Readable } from 'node:stream'

export interface Blob {
  /** SHA-256 of the content, 64 lower-case hex digits. */
  readonly digest: string
  readonly size: number
}

/** As in HTTP: positions from zero, the end included; without an end, all the rest. */
export interface Range {
  readonly start: number
  readonly end?: number
}

export interface Blobs {
  /**
   * Content over the limit is refused as `too_large`. What fails leaves nothing behind, and leaves the rest of the
   * source unread but alive: a request can still be answered.
   */
  put(content: Readable | Uint8Array, options?: { limit?: number }): Promise<Blob>
  /**
   * Null when there is no such blob. The size is the whole blob's; of a range, only what the blob has of it is read.
   * Whoever opens the stream reads it to its end or destroys it.
   */
  open(digest: string, range?: Range): Promise<{ size: number; stream: Readable } | null>
  has(digest: string): Promise<boolean>
  /** Removing what is not there is no failure. */
  remove(digest: string): Promise<void>
  /** All there are, and when they were stored last; null where that cannot be told. */
  list(): AsyncIterable<{ digest: string; modified: Date }> | null
  /** Rejects, saying why, while blobs cannot be kept. */
  check(): Promise<void>
  /** Whether all nodes share this store: a failure of it is then no fault of one node. */
  readonly isShared: boolean
}

/** The bucket cannot be reached, or fails at the moment. Nothing was stored or removed for certain. */
export class BlobStoreUnavailable extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause })
    this.name = 'BlobStoreUnavailable'
  }
}
