/** The folders of a job: their paths on the machine, and their paths for the scripts. */
import { join, posix } from 'node:path'

export interface Folders {
  /** The folder for all builds of one slot. One job at a time uses it. */
  readonly builds: string
  /** The checkout. */
  readonly project: string
  /** Scripts, file variables, and archives in transit. */
  readonly temporary: string
}

export interface Workspace {
  readonly hostFolders: Folders
  /** The same folders as the scripts see them, for example in a container. */
  readonly seen: Folders
}

/** The credentials in a URL; `encoded` is their original text. */
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

/** The path of a repository URL, split into parts that cannot lead elsewhere. */
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
  /** The folder of the slot. */
  readonly folder: string
  readonly repoUrl: string
  /** The path of the slot's folder inside a container. Absent without a container. */
  readonly mountedAt?: string
  /** GIT_CLONE_PATH. */
  readonly clonePath?: string
}

/** Null if the requested clone path is outside the builds folder. */
export function workspaceOf({ folder, repoUrl, mountedAt, clonePath }: WorkspaceLocation): Workspace | null {
  const hostFolders = { builds: join(folder, 'builds'), temporary: join(folder, 'tmp') }
  const seen = mountedAt ? { builds: `${mountedAt}/builds`, temporary: `${mountedAt}/tmp` } : hostFolders
  const projectPath = clonePath ? posix.relative(seen.builds, posix.normalize(clonePath)) : projectPathOf(repoUrl)
  if (projectPath === '' || projectPath === '..' || projectPath.startsWith('../')) return null
  return {
    hostFolders: { ...hostFolders, project: join(hostFolders.builds, projectPath) },
    seen: { ...seen, project: posix.join(seen.builds, projectPath) },
  }
}
