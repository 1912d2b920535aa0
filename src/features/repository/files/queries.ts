import { createHash, hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { notFound } from '../../../errors.ts'
import { resolveCommit } from '../../../git/objects/commits.ts'
import { lastCommitOf } from '../../../git/history/history.ts'
import { openBlob, readKnown } from '../../../git/objects/objects.ts'
import { entryAt, type TreeEntry } from '../../../git/objects/trees.ts'

const LARGEST_DIGESTED = 1024 * 1024

export interface FileAtCommit {
  readonly entry: TreeEntry
  /** The ref as the caller wrote it. */
  readonly ref: string
  readonly commit: string
  readonly lastCommit: string
}

export async function findFile(dir: string, ref: string, path: string): Promise<FileAtCommit> {
  const commit = await resolveCommit(dir, ref)
  if (commit === null) throw notFound('Commit')
  const entry = await entryAt(dir, commit, path)
  if (entry?.type !== 'blob') throw notFound('File')
  return { entry, ref, commit, lastCommit: (await lastCommitOf(dir, commit, entry.path)) ?? commit }
}

export interface OpenFile extends FileAtCommit {
  readonly size: number
  /** A stream if the file is large. Destroy a stream that is not read to its end. */
  readonly body: Buffer | Readable
  /** Only for files that are small enough to read completely. */
  readonly digest?: string
}

export async function openFile(dir: string, file: FileAtCommit): Promise<OpenFile> {
  const [small] = await readKnown(dir, [file.entry.id], { maxBytes: LARGEST_DIGESTED })
  if (small?.content) {
    return { ...file, size: small.size, digest: hash('sha256', small.content), body: small.content }
  }
  const blob = await openBlob(dir, file.entry.id)
  if (!blob) throw notFound('File')
  return { ...file, size: blob.size, body: blob.stream }
}

export type DigestedFile = OpenFile & { readonly digest: string }

/** Reads a large file twice, because its digest precedes the content in the answer. */
export async function openDigested(dir: string, file: FileAtCommit): Promise<DigestedFile> {
  const open = await openFile(dir, file)
  if (open.digest !== undefined) return { ...open, digest: open.digest }
  const digest = createHash('sha256')
  await pipeline(open.body, digest)
  return { ...(await openFile(dir, file)), digest: digest.digest('hex') }
}
