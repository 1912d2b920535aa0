/**
 * Pools: bare repositories that hold what forks share. A pool only grows: every tip it was ever given keeps a ref of
 * its own there, named by its id, so that nothing in it is lost whatever becomes of the source. Whoever reads one of
 * its members can read all of it by id; who may fill a pool is for the caller to decide.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../clock.ts'
import { git } from '../process/command.ts'
import { despiteDeadLocks } from '../refs/locks.ts'
import { copyObjects, publishedRefs, tipsOf } from './copy.ts'
import { createRepository, housekeep, packRefs, REFS_FLUSHED_LATER, repositoryExists } from './repositories.ts'

export interface FillOptions {
  /** Asked once it is known what would be taken, and before anything is. */
  mayTake(): Promise<boolean>
  readonly signal?: AbortSignal | undefined
}

/** Brings what the source's branches and tags reach and the pool has not; makes the pool where there is none yet. */
export function fillPool(pool: string, source: string, { mayTake, signal }: FillOptions): Promise<void> {
  return inTurn(pool, async () => {
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

const turns = new Map<string, Promise<void>>()

/** Two at a time would each bring what both are missing. */
async function inTurn(pool: string, work: () => Promise<void>): Promise<void> {
  const turn = (turns.get(pool) ?? Promise.resolve()).then(work, work)
  turns.set(pool, turn)
  try {
    await turn
  } finally {
    if (turns.get(pool) === turn) turns.delete(pool)
  }
}

/** Each filling leaves a pack of its own. */
const MOST_PACKS = 10

/** Whether clones of the members would be quicker if it were packed anew. */
export async function isUntidy(pool: string): Promise<boolean> {
  if (!(await repositoryExists(pool))) return false
  const names = await readdir(join(pool, 'objects/pack'))
  const packs = names.filter((name) => name.endsWith('.pack')).length
  return packs > MOST_PACKS || (packs > 0 && !names.some((name) => name.endsWith('.bitmap')))
}

/** Members may need what no ref of the pool reaches, from a filling that was cut short: nothing ever expires. */
export const tidyPool = (pool: string, { signal }: { signal?: AbortSignal } = {}): Promise<void> =>
  housekeep(pool, { signal, prune: null })
