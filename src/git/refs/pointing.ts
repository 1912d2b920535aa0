/** Internal refs of the server, which keep objects that it needs. */
import { objectInfos } from '../objects/objects.ts'
import { git } from '../process/command.ts'
import { despiteDeadLocks } from './locks.ts'
import { resolveRef } from './refs.ts'
import { NO_OBJECT, RefMoved, moveRefs } from './update.ts'

export const keepRef = (sha: string): string => `refs/keep-around/${sha}`

/** Keeps the commit readable, whatever happens to its branch. */
export async function keepCommit(dir: string, sha: string): Promise<void> {
  await pointAt(dir, keepRef(sha), sha)
}

/** The same for many with one process. Commits that no longer exist are skipped. */
export async function keepCommits(dir: string, shas: readonly string[]): Promise<void> {
  const infos = await objectInfos(dir, shas)
  const lines = shas.filter((_, n) => infos[n]).map((sha) => `update ${keepRef(sha)} ${sha}\n`)
  if (lines.length > 0)
    await despiteDeadLocks(dir, () => git(dir, ['update-ref', '--stdin'], { input: lines.join('') }))
}

/** Sets the ref, whatever its current value. Of two concurrent calls, either may win. */
export async function pointAt(dir: string, ref: string, sha: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    const before = await resolveRef(dir, ref)
    if (before === sha) return
    try {
      return await moveRefs(dir, [{ ref, before: before ?? NO_OBJECT, after: sha }])
    } catch (error) {
      if (!(error instanceof RefMoved) || tries === 5) throw error
    }
  }
}

/** Deletes all at once, unless one of them moves meanwhile. */
export async function dropRefs(dir: string, refs: readonly string[]): Promise<void> {
  const found = await Promise.all(refs.map(async (ref) => ({ ref, before: await resolveRef(dir, ref) })))
  const updates = found.flatMap(({ ref, before }) => (before === null ? [] : [{ ref, before, after: NO_OBJECT }]))
  try {
    await moveRefs(dir, updates)
  } catch (error) {
    if (!(error instanceof RefMoved)) throw error
    for (const { ref } of updates) await dropRef(dir, ref)
  }
}

export async function dropRef(dir: string, ref: string): Promise<void> {
  const before = await resolveRef(dir, ref)
  if (before === null) return
  await moveRefs(dir, [{ ref, before, after: NO_OBJECT }]).catch((error: unknown) => {
    if (!(error instanceof RefMoved)) throw error
  })
}
