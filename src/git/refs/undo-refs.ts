/**
 * Refs that keep the old values of branches and tags, so that a change can be undone. They keep objects from being
 * pruned and nothing else: a commit that only they reach counts as unreachable wherever access depends on it.
 */
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { HOUR } from '../../clock.ts'
import { nullIfMissing } from '../../lib/files/system-errors.ts'
import { checkedId } from '../objects/ids.ts'
import { LONG_LISTING, git } from '../process/command.ts'
import { despiteDeadLocks } from './locks.ts'
import { isForPushes } from './namespaces.ts'

/** All refs but these: for `rev-list`. */
export const ALL_BUT_UNDO = ['--exclude=refs/undo/*', '--all'] as const

const undoRef = (id: string) => `refs/undo/${checkedId(id)}`

/** Ids that are kept already stay so. */
export async function keepForUndo(dir: string, ids: Iterable<string>): Promise<void> {
  await updateAll(
    dir,
    Array.from(ids, (id) => `update ${undoRef(id)} ${id}`),
  )
}

export async function releaseForUndo(dir: string, ids: Iterable<string>): Promise<void> {
  await updateAll(
    dir,
    Array.from(ids, (id) => `delete ${undoRef(id)}`),
  )
}

async function updateAll(dir: string, lines: readonly string[]): Promise<void> {
  if (lines.length === 0) return
  const input = ['start', ...lines, 'prepare', 'commit', ''].join('\n')
  await despiteDeadLocks(dir, () => git(dir, ['update-ref', '--stdin'], { input, deadline: HOUR }))
}

export async function listUndoRefs(dir: string): Promise<Set<string>> {
  const listing = await git(dir, ['for-each-ref', '--format=%(objectname)', 'refs/undo'], { maxOutput: LONG_LISTING })
  return new Set(listing.split('\n').filter((id) => id !== ''))
}

const markerOf = (dir: string) => join(dir, 'pruning')

/** Refs that move meanwhile keep their old values themselves. The file outlives a killed process, which is harmless. */
export async function whilePruning<T>(dir: string, work: () => Promise<T>): Promise<T> {
  await writeFile(markerOf(dir), '')
  try {
    return await work()
  } finally {
    await rm(markerOf(dir), { force: true })
  }
}

/**
 * Call before refs move. The record of a change that is about to happen comes before this check, and the marker comes
 * before housekeeping reads the records: so one of the two keeps the old values.
 */
export async function keepIfPruning(
  dir: string,
  updates: readonly { readonly ref: string; readonly before: string }[],
): Promise<void> {
  const old = updates.filter(({ ref, before }) => isForPushes(ref) && !/^0+$/.test(before))
  if (old.length === 0 || !(await stat(markerOf(dir)).catch(nullIfMissing))) return
  await keepForUndo(dir, new Set(old.map(({ before }) => before)))
}
