/** Locations in a repository: a branch, tag or commit and a path, as one URL. */
import { Refused, type Api, type Records } from './api.ts'
import { below } from './layout/project.tsx'
import * as t from './texts/repository.ts'

/** The path of one of our own URLs, whatever its host. */
export const pathOf = (url: string): string => url.replace(/^https?:\/\/[^/]+/, '')

export const encodePath = (path: string) => path.split('/').map(encodeURIComponent).join('/')

type Kind = 'tree' | 'blob' | 'blame' | 'commits' | 'edit' | 'new' | 'graphs' | 'find_file' | 'network'

/** The URL of a page about a location. */
export function locationAddress(project: { path_with_namespace: string }, kind: Kind, ref: string, path = ''): string {
  return below(project, `${kind}/${encodePath(ref)}${path && `/${encodePath(path)}`}`)
}

export const rawAddress = (project: { id: number }, ref: string, path: string) =>
  `/api/v4/projects/${project.id}/repository/files/${encodeURIComponent(path)}/raw?ref=${encodeURIComponent(ref)}`

export const archiveAddress = (project: { id: number }, format: string, ref: string, path = '') =>
  `/api/v4/projects/${project.id}/repository/archive.${format}?sha=${encodeURIComponent(ref)}` +
  (path && `&path=${encodeURIComponent(path)}`)

export interface RefLocation {
  ref: string
  path: string
  commit: Records['CommitDetail']
}

/** Names with more slashes are not searched. */
const MOST_PARTS = 6

/** Branch names may contain slashes: the longest prefix that is a branch is the name, and the rest is the path. */
export async function locationAt(api: Api, id: string, given: string): Promise<RefLocation> {
  const parts = given.split('/')
  const names = parts.slice(0, /^[0-9a-f]{40}$/.test(parts[0]!) ? 1 : MOST_PARTS).map((_, n) => n + 1)
  const found = await Promise.all(
    names.map(async (length) => {
      const ref = parts.slice(0, length).join('/')
      const commit = await api.maybe('/projects/{id}/repository/commits/{sha}', { id, sha: ref, stats: false })
      return commit && { ref, path: parts.slice(length).join('/'), commit }
    }),
  )
  const location = found.findLast((one) => one !== null)
  if (!location) throw missing()
  return location
}

export const missing = () => new Refused({ status: 404, headers: {}, body: { message: t.notFound } })

/** A human-readable size. */
export function sizeText(bytes: number): string {
  if (bytes < 1000) return t.byteCount(bytes)
  const units = ['kB', 'MB', 'GB', 'TB']
  let size = bytes / 1000
  while (size >= 1000 && units.length > 1) {
    size /= 1000
    units.shift()
  }
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${units[0]}`
}
