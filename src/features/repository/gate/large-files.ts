/** Files that Git LFS keeps: nobody pushes what only points at them, nor changes one that somebody else has locked. */
import type { App } from '../../../context.ts'
import { readObject } from '../../../git/objects.ts'
import { readPointers } from '../../../git/pointers.ts'
import { entryAt } from '../../../git/trees.ts'
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
  if (!(await mayPoint(project, incoming))) return null
  const { dir, tips, environment } = incoming
  const oids = new Set((await readPointers(dir, tips, environment)).map(({ oid }) => oid))
  return (await hasLfsObjects(db, project.id, [...oids])) ? null : MISSING
}

/**
 * Whether it is worth two processes to look for pointers, which most pushes do not bring. A small pack in quarantine is
 * peeked at without one. What the API wrote stands among all other objects: there we look where LFS is in use, by an object that
 * the project has or by an attribute that says so.
 */
async function mayPoint(project: Project, { dir, branches, environment, pack }: Incoming): Promise<boolean> {
  if (environment) return (await pack())?.mayHoldPointers() ?? true
  if (project.lfs_objects_size > 0) return true
  for (const { tip } of branches) {
    const attributes = await entryAt(dir, tip, '.gitattributes')
    if (attributes && (await readObject(dir, attributes.id))?.content?.includes('filter=lfs')) return true
  }
  return false
}

/** A deploy key holds no locks: to it, all are somebody else's. */
async function lockFault(app: App, pusher: Pusher, project: Project, incoming: Incoming): Promise<string | null> {
  if (incoming.branches.length === 0) return null
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
