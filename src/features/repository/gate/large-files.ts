/** Files that Git LFS keeps: nobody pushes what only points at them, nor changes one that somebody else has locked. */
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
 * Whether it is worth two processes to look for pointers, which most changes do not bring. A small pack in quarantine
 * is peeked at without one, and whoever writes files has seen what is in them. Of all else, what was here before was
 * looked at when it came.
 */
async function mayPoint({ environment, pack, pointers = false }: Incoming): Promise<boolean> {
  return environment ? ((await pack())?.mayHoldPointers() ?? true) : pointers
}

/** A deploy key holds no locks: to it, all are somebody else's. */
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
