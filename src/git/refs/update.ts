/**
 * Refs move together or not at all, each from the value it was seen to have, and are on disk when `moveRefs` returns.
 * Pushes and the product's own writes both come through here.
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

/** The id of nothing: what a ref had before it was created, and has after it is deleted. */
export const NO_OBJECT = '0'.repeat(40)

export interface RefUpdate {
  readonly ref: string
  readonly before: string
  readonly after: string
}

/** A ref did not have the value it was expected to have: someone else was faster. */
export class RefMoved extends Error {
  readonly ref: string | null

  constructor(name: string | null) {
    super('a ref was moved meanwhile')
    this.name = 'RefMoved'
    this.ref = name
  }
}

/** `a` and `a/b` cannot both be. */
export class RefInTheWay extends Error {
  readonly ref: string | null

  constructor(name: string | null) {
    super('another ref is in the way')
    this.name = 'RefInTheWay'
    this.ref = name
  }
}

/** From here on they are flushed as one file: thousands of flushes are the price of a mirror otherwise. */
export const MANY = 500

// Who waits a little longer learns whether the ref has moved, and not only that it was being moved.
const PATIENT = { 'core.filesRefLockTimeout': '2000', 'core.packedRefsTimeout': '10000' }

/** What the refs are to point at, if it is still on its way. */
export interface Arrival {
  /** Resolves when it is in its place, durably. */
  readonly ready: Promise<void>
  /** True only of what is surely a commit, and among it. */
  isCommit(id: string): boolean
}

export async function moveRefs(dir: string, updates: readonly RefUpdate[], arrival?: Arrival): Promise<void> {
  if (updates.length === 0) return
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
        // Without `commit`, a process of ours that is killed while it writes would move half of them.
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
    // They have moved: whoever takes this for a refusal would be wrong.
    throw new Error('refs moved, but were not flushed', { cause: error })
  })
}

/** False: nothing was done, git is to do it. */
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
  // To git it would mean: whatever it has.
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
