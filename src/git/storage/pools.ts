/**
 * Pools: bare repositories with the objects that forks share. A pool only grows: every tip that it ever got has its own
 * ref there, named by its id, so that nothing is lost whatever happens to the source. A user who can read one member
 * can read all objects of the pool by id. The caller decides which repositories may fill a pool.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../clock.ts'
import { git } from '../process/command.ts'
import { despiteDeadLocks } from '../refs/locks.ts'
import { copyObjects, publishedRefs, tipsOf } from './copy.ts'
import { createRepository, housekeep, packRefs, REFS_FLUSHED_LATER, repositoryExists } from './repositories.ts'

export interface FillOptions {
  /** Called when the content to take is known, and before anything is taken. */
  mayTake(): Promise<boolean>
  readonly signal?: AbortSignal | undefined
}

/** Copies the objects that branches and tags of the source reach and the pool lacks. Creates a missing pool. */
export function fillPool(pool: string, source: string, { mayTake, signal }: FillOptions): Promise<void> {
  return serialized(pool, async () => {
    const tips = new Set((await publishedRefs(source, signal)).map(({ id }) => id))
    if (tips.size === 0 || !(await mayTake())) return
    await createRepository(pool, { defaultBranch: 'master' })
    const known = new Set(await tipsOf(pool, signal))
    const fresh = [...tips].filter((id) => !known.has(id))
    if (fresh.length === 0) return
    await copyObjects(source, pool, { tips: fresh, without: [...known], signal })
    const input = fresh.map((id) => `update refs/pools/${id} ${id}\n`).join('')
    await despiteDeadLocks(pool, () =>
      git(pool, ['update-ref', '--stdin'], { input, config: REFS_FLUSHED_LATER, deadline: HOUR, signal }),
    )
    await packRefs(pool, signal)
  })
}

const running = new Map<string, Promise<void>>()

/** Serializes calls, because two at a time would both copy the same missing objects. */
async function serialized(pool: string, work: () => Promise<void>): Promise<void> {
  const run = (running.get(pool) ?? Promise.resolve()).then(work, work)
  running.set(pool, run)
  try {
    await run
  } finally {
    if (running.get(pool) === run) running.delete(pool)
  }
}

/** Each call of `fillPool` adds a pack. */
const MOST_PACKS = 10

/** Whether repacking would make clones of the members faster. */
export async function isUntidy(pool: string): Promise<boolean> {
  if (!(await repositoryExists(pool))) return false
  const names = await readdir(join(pool, 'objects/pack'))
  const packs = names.filter((name) => name.endsWith('.pack')).length
  return packs > MOST_PACKS || (packs > 0 && !names.some((name) => name.endsWith('.bitmap')))
}

/**
 * Members may need objects that no ref of the pool reaches, from an interrupted `fillPool`, so nothing ever expires.
 */
export const tidyPool = (pool: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> =>
  housekeep(pool, { signal, prune: null })
