/**
 * Moves refs together or not at all, each from its expected value. The refs are on disk when `moveRefs` returns. Pushes
 * and the server's own writes use this code.
 */
import { MINUTE } from '../../clock.ts'
import { ref, type Ref } from '../process/arguments.ts'
import { git, GitFailed } from '../process/command.ts'
import { checkedId } from '../objects/ids.ts'
import { readmit } from '../objects/withheld.ts'
import { objectInfo } from '../objects/objects.ts'
import { despiteDeadLocks } from './locks.ts'
import { packRefs, REFS_FLUSHED_LATER } from '../storage/repositories.ts'
import { moveOne } from './single-ref.ts'
import { keepIfPruning } from './undo-refs.ts'

/** The zero id: the value of a ref before its creation and after its deletion. */
export const NO_OBJECT = '0'.repeat(40)

export interface RefUpdate {
  readonly ref: string
  readonly before: string
  readonly after: string
}

/** A ref did not have its expected value, because a concurrent change was faster. */
export class RefMoved extends Error {
  readonly ref: string | null

  constructor(name: string | null) {
    super('a ref was moved meanwhile')
    this.name = 'RefMoved'
    this.ref = name
  }
}

/** `a` and `a/b` cannot both exist. */
export class RefInTheWay extends Error {
  readonly ref: string | null

  constructor(name: string | null) {
    super('another ref is in the way')
    this.name = 'RefInTheWay'
    this.ref = name
  }
}

/** From this number on, the refs are flushed as one file. Otherwise a mirror would cost thousands of flushes. */
export const MANY = 500

// Waiting a little longer shows whether the ref has moved, and not only that it was locked.
const PATIENT = { 'core.filesRefLockTimeout': '2000', 'core.packedRefsTimeout': '10000' }

/** The new targets of the refs, if they are still being received. */
export interface Arrival {
  /** Resolves when the objects are in place, durably. */
  readonly ready: Promise<void>
  /** True only if the id is certainly a commit among the received objects. */
  isCommit(id: string): boolean
}

export async function moveRefs(dir: string, updates: readonly RefUpdate[], arrival?: Arrival): Promise<void> {
  if (updates.length === 0) return
  await keepIfPruning(dir, updates)
  await moveAll(dir, updates, arrival)
  if (updates.some(({ after }) => after !== NO_OBJECT)) await readmit(dir)
}

async function moveAll(dir: string, updates: readonly RefUpdate[], arrival?: Arrival): Promise<void> {
  const lines = updates.map(lineOf)
  if (updates.length === 1 && (await moveAlone(dir, updates[0]!, arrival))) return
  await arrival?.ready
  const isLarge = updates.length >= MANY
  try {
    await despiteDeadLocks(dir, () =>
      git(dir, ['update-ref', '--no-deref', '--stdin'], {
        // Without `commit`, killing this process during the write could move half of the refs.
        input: ['start', ...lines, 'prepare', 'commit', ''].join('\n'),
        config: isLarge ? { ...PATIENT, ...REFS_FLUSHED_LATER } : PATIENT,
        deadline: 10 * MINUTE,
      }),
    )
  } catch (error) {
    throw error instanceof GitFailed && error.reason === 'exit' ? meaningOf(error) : error
  }
  if (!isLarge) return
  await packRefs(dir).catch((error: unknown) => {
    // The refs have moved, so this error must not look like a rejection.
    throw new Error('refs moved, but were not flushed', { cause: error })
  })
}

/** False: nothing was done, and git must do it. */
async function moveAlone(dir: string, update: RefUpdate, arrival?: Arrival): Promise<boolean> {
  const { before, after } = update
  if (after === NO_OBJECT) return false
  const name = ref(update.ref)
  const move = { name, before: before === NO_OBJECT ? null : before, after }
  const outcome = await moveOne(dir, move, mayPointAt(dir, name, after, arrival))
  if (outcome === 'was elsewhere') throw new RefMoved(name)
  return outcome === 'moved'
}

async function mayPointAt(dir: string, name: Ref, id: string, arrival?: Arrival): Promise<boolean> {
  await arrival?.ready
  if (arrival?.isCommit(id)) return true
  const object = await objectInfo(dir, id)
  return object?.id === id && (object.type === 'commit' || !name.startsWith('refs/heads/'))
}

function lineOf({ ref: name, before, after }: RefUpdate): string {
  const [from, to] = [before, after].map(checkedId)
  if (to !== NO_OBJECT) return `update ${ref(name)} ${to} ${from}`
  // For git, this value would mean any current value.
  if (from === NO_OBJECT) throw new RefMoved(name)
  return `delete ${ref(name)} ${from}`
}

function meaningOf(error: GitFailed): Error {
  const name = /cannot lock ref '([^']*)'/.exec(error.stderr)?.[1] ?? null
  if (/ but expected |reference already exists|unable to resolve reference/.test(error.stderr))
    return new RefMoved(name)
  if (/; cannot create |at the same time/.test(error.stderr)) return new RefInTheWay(name)
  return error
}
