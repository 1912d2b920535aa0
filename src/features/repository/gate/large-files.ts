/** Checks Git LFS: rejects pointers without content, and changes to files that another user has locked. */
import type { App } from '../../../context.ts'
import { readPointers } from '../../../git/objects/pointers.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { hasLfsObjects, locksOfOthers } from '../lfs/queries.ts'
import type { Incoming } from './incoming.ts'
import type { Pusher } from './updates.ts'

const MISSING = 'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'

export async function largeFileFault(
  app: App,
  pusher: Pusher,
  project: Project,
  incoming: Incoming,
): Promise<string | null> {
  if (!project.lfs_enabled || incoming.tips.length === 0) return null
  return (await pointerFault(app, project, incoming)) ?? lockFault(app, pusher, project, incoming)
}

async function pointerFault({ db }: App, project: Project, incoming: Incoming): Promise<string | null> {
  if (!(await mayPoint(incoming))) return null
  const { dir, tips, environment } = incoming
  const oids = new Set((await readPointers(dir, tips, environment)).map(({ oid }) => oid))
  return (await hasLfsObjects(db, project.id, [...oids])) ? null : MISSING
}

/**
 * Whether to search for pointers, which takes two processes; most changes have none. A small pack in quarantine is
 * checked without a process, and code that writes files has seen their content. Other objects were checked when they
 * arrived.
 */
async function mayPoint({ environment, pack, pointers = false }: Incoming): Promise<boolean> {
  return environment ? ((await pack())?.mayHoldPointers() ?? true) : pointers
}

/** A deploy key owns no locks, so every lock belongs to another user. */
async function lockFault(app: App, pusher: Pusher, project: Project, incoming: Incoming): Promise<string | null> {
  const person = pusher.deployKeyId === undefined ? (pusher.user?.id ?? null) : null
  const locks = await locksOfOthers(app.db, project.id, person)
  if (locks.size === 0) return null
  for (const { changes } of await incoming.commits()) {
    for (const { path, from } of changes) {
      const lock = locks.get(path) ?? (from === undefined ? undefined : locks.get(from))
      if (lock) return `'${lock.path}' is locked in Git LFS by @${lock.username}`
    }
  }
  return null
}
