import { incomingCommits, type IncomingCommit } from '../../../git/push/incoming.ts'
import type { SmallPack } from '../../../git/push/small-pack.ts'
import { branchOf, isNewTip, type Update } from './updates.ts'

/** Where what a change brings has come from. */
export interface Origin {
  /** Of the quarantine, where there is one. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** What was pushed, if it is little; null where git must be asked. */
  pack?(): Promise<SmallPack | null>
  /** Whether there may be pointers of Git LFS among it, where whoever wrote it knows. */
  readonly pointers?: boolean | undefined
}

/** What a change brings, for all who look at it; it is read once, and only if somebody asks. */
export interface Incoming extends Origin {
  readonly dir: string
  /** What refs of any kind are to point at. */
  readonly tips: readonly string[]
  /** Branches that come or move: their names and new tips. */
  readonly branches: readonly { readonly name: string; readonly tip: string }[]
  /** That no ref reached before, on the way to any of them: what a tag or a note brought in is not looked at again. */
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
