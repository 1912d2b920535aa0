/** The folders of a job: where its files are, and where its scripts see them. */
import { posix } from 'node:path'
import { join } from 'node:path'

export interface Folders {
  /** For all builds of one slot: only one job at a time is in it. */
  readonly builds: string
  /** The checkout. */
  readonly project: string
  /** Scripts, file variables, archives on their way. */
  readonly temporary: string
}

export interface Workspace {
  readonly here: Folders
  /** The same as the scripts see it, be it in a container. */
  readonly seen: Folders
}

/** The path of a repository's address, in parts that cannot lead elsewhere. */
export function projectPathOf(repoUrl: string): string {
  const path = URL.canParse(repoUrl) ? decodeURI(new URL(repoUrl).pathname) : repoUrl
  const parts = path
    .replace(/\.git\/?$/, '')
    .split('/')
    .map((part) => part.replace(/[^\w.-]/g, '_'))
    .filter((part) => part !== '' && !/^\.+$/.test(part))
  return parts.slice(-20).join('/').slice(-500).replace(/^\/+/, '') || 'project'
}

export interface Place {
  /** Of the slot. */
  readonly folder: string
  readonly repoUrl: string
  /** Where a container has the slot's folder; the same as here without one. */
  readonly mountedAt?: string
  /** GIT_CLONE_PATH. */
  readonly clonePath?: string
}

/** Null where the wished clone path is not inside the builds folder. */
export function workspaceOf({ folder, repoUrl, mountedAt, clonePath }: Place): Workspace | null {
  const here = { builds: join(folder, 'builds'), temporary: join(folder, 'tmp') }
  const seen = mountedAt ? { builds: `${mountedAt}/builds`, temporary: `${mountedAt}/tmp` } : here
  const wished = clonePath ? posix.relative(seen.builds, posix.normalize(clonePath)) : projectPathOf(repoUrl)
  if (wished === '' || wished === '..' || wished.startsWith('../')) return null
  return {
    here: { ...here, project: join(here.builds, wished) },
    seen: { ...seen, project: posix.join(seen.builds, wished) },
  }
}
