import { incomingCommits, type IncomingCommit } from '../../../git/push/incoming.ts'
import type { SmallPack } from '../../../git/push/small-pack.ts'
import { branchOf, isNewTip, type Update } from './updates.ts'

/** The source of the objects of a change. */
export interface Origin {
  /** Environment variables of the quarantine, if there is one. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The pushed pack if it is small. Null if git must read the objects. */
  pack?(): Promise<SmallPack | null>
  /** Whether the objects may contain Git LFS pointers, if the author knows. */
  readonly pointers?: boolean | undefined
}

/** The content of a change, for all checks. It is read once, and only on demand. */
export interface Incoming extends Origin {
  readonly dir: string
  /** The new targets of all refs. */
  readonly tips: readonly string[]
  /** Names and new tips of the branches that are created or moved. */
  readonly branches: readonly { readonly name: string; readonly tip: string }[]
  /**
   * New commits that no ref reached before, on the way to any of the tips. Commits that a tag or a note brought in are
   * not checked again.
   */
  commits(): Promise<readonly IncomingCommit[]>
  pack(): Promise<SmallPack | null>
}

export function incomingOf(dir: string, updates: readonly Update[], origin: Origin): Incoming {
  const { environment } = origin
  const event = updates.filter(isNewTip)
  const branches = event.flatMap(({ ref, after: tip }) => {
    const name = branchOf(ref)
    return name === null ? [] : [{ name, tip }]
  })
  const tips = event.map(({ after }) => after)
  let commits: Promise<readonly IncomingCommit[]> | undefined
  return {
    ...origin,
    dir,
    tips,
    branches,
    commits: () => (commits ??= incomingCommits(dir, tips, { environment })),
    pack: async () => origin.pack?.() ?? null,
  }
}
