/** A commit's files in one: written as it is read, never kept. */
import { access, constants } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { HOUR } from '../clock.ts'
import { prefix as folderPrefix, rev, treePath } from './arguments.ts'
import { gitStream } from './command.ts'
import { resolveCommit } from './commits.ts'
import { entryAt } from './trees.ts'

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.bz2' | 'zip'

export interface ArchiveWish {
  readonly format: ArchiveFormat
  /** The folder it unpacks to. */
  readonly prefix: string
  /** Only this file or folder, in its place. */
  readonly path?: string
  readonly signal?: AbortSignal
}

const FORMATS = {
  tar: '--format=tar',
  'tar.gz': '--format=tar.gz',
  'tar.bz2': '--format=tar.bz2',
  zip: '--format=zip',
} as const

/** Null when there is no such commit, or nothing at that path. Destroy the stream when it is not read to its end. */
export async function archive(dir: string, name: string, wish: ArchiveWish): Promise<Readable | null> {
  const { format, prefix, path = '', signal } = wish
  const top = folderPrefix(prefix)
  const commit = await resolveCommit(dir, name)
  const entry = commit === null || path === '' ? null : await entryAt(dir, commit, path)
  if (commit === null || (path !== '' && !entry)) return null
  const paths = entry ? [treePath(entry.path)] : []
  return gitStream(dir, ['archive', FORMATS[format], '--prefix', top, rev(commit), '--', ...paths], {
    // Git knows no bzip2 of its own, but runs what it is told to; a part of its group, it is ended with it.
    config: { 'tar.tar.bz2.command': 'bzip2 -c' },
    deadline: HOUR,
    signal,
  })
}

/** All but bzip2 is git's own; that is a program the machine may lack. */
export async function canArchive(format: ArchiveFormat): Promise<boolean> {
  if (format !== 'tar.bz2') return true
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = await Promise.all(
    folders.map((folder) =>
      access(join(folder, 'bzip2'), constants.X_OK).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}
