/** The folders of a job: where its files are, and where its scripts see them. */
import { join, posix } from 'node:path'

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

/** What an address has before its host; `encoded` as it stands there. */
export function credentialOf(url: string): { username: string; password: string; encoded: string } {
  if (!URL.canParse(url)) return { username: '', password: '', encoded: '' }
  const { username, password: encoded } = new URL(url)
  return { username: decoded(username), password: decoded(encoded), encoded }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The path of a repository's address, in parts that cannot lead elsewhere. */
export function projectPathOf(repoUrl: string): string {
  const path = URL.canParse(repoUrl) ? decoded(new URL(repoUrl).pathname) : repoUrl
  const parts = path
    .replace(/\.git\/?$/, '')
    .split('/')
    .map((part) => part.replace(/[^\w.-]/g, '_'))
    .filter((part) => part !== '' && !/^\.+$/.test(part))
  return parts.slice(-20).join('/').slice(-500).replace(/^\/+/, '') || 'project'
}

export interface WorkspaceLocation {
  /** Of the slot. */
  readonly folder: string
  readonly repoUrl: string
  /** Where a container has the slot's folder; the same as here without one. */
  readonly mountedAt?: string
  /** GIT_CLONE_PATH. */
  readonly clonePath?: string
}

/** Null where the wished clone path is not inside the builds folder. */
export function workspaceOf({ folder, repoUrl, mountedAt, clonePath }: WorkspaceLocation): Workspace | null {
  const here = { builds: join(folder, 'builds'), temporary: join(folder, 'tmp') }
  const seen = mountedAt ? { builds: `${mountedAt}/builds`, temporary: `${mountedAt}/tmp` } : here
  const wished = clonePath ? posix.relative(seen.builds, posix.normalize(clonePath)) : projectPathOf(repoUrl)
  if (wished === '' || wished === '..' || wished.startsWith('../')) return null
  return {
    here: { ...here, project: join(here.builds, wished) },
    seen: { ...seen, project: posix.join(seen.builds, wished) },
  }
}
