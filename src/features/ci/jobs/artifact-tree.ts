/** Lists a folder of a job's artifact archive. */
import type { App } from '../../../context.ts'
import { notFound } from '../../../errors.ts'
import { BadZip } from '../../../lib/zip/reader.ts'
import { archiveOf, openArchive } from './archives.ts'
import type { Job } from './model.ts'

const MOST_ENTRIES = 100_000

export interface ArtifactEntry {
  readonly name: string
  readonly path: string
  readonly type: 'tree' | 'blob'
  /** The size of a folder is the sum of all files in it. */
  readonly size: number
}

/** Lists folders first, then files, each sorted by name. Rejects a folder that the archive does not have. */
export async function listArtifacts(app: App, job: Job, path: string): Promise<ArtifactEntry[]> {
  const artifact = await archiveOf(app, job.id)
  if (!artifact) throw notFound()
  const folder = path.split('/').filter(Boolean)
  const found = new Map<string, ArtifactEntry>()
  let isThere = folder.length === 0
  try {
    const archive = await openArchive(app, artifact, { entries: MOST_ENTRIES })
    for await (const entry of archive.entries()) {
      const parts = entry.path
      if (!parts || !folder.every((part, n) => parts[n] === part)) continue
      isThere ||= parts.length > folder.length || entry.type === 'folder'
      const name = parts[folder.length]
      if (name === undefined) continue
      const isFolder = parts.length > folder.length + 1 || entry.type === 'folder'
      if (!isFolder && entry.type !== 'file') continue
      const size = (found.get(name)?.size ?? 0) + entry.size
      found.set(name, { name, path: [...folder, name].join('/'), type: isFolder ? 'tree' : 'blob', size })
    }
  } catch (error) {
    throw error instanceof BadZip ? notFound() : error
  }
  if (!isThere) throw notFound()
  const byName = ({ name: one }: ArtifactEntry, { name: other }: ArtifactEntry) => (one < other ? -1 : 1)
  const entries = [...found.values()].toSorted(byName)
  return [...entries.filter(({ type }) => type === 'tree'), ...entries.filter(({ type }) => type === 'blob')]
}
