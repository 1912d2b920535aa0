import type { User } from '../../../context.ts'

/** Who moves refs, and by which way. */
export interface Pusher {
  /** Null: a deploy key without a creator. */
  readonly user: User | null
  readonly level: number
  readonly deployKeyId?: number
  readonly via: 'http' | 'ssh' | 'web'
  /** A merge request, for which protected branches have a level of their own. */
  readonly merging?: true
}

/** Null stands for no ref: before it is made, after it is deleted. */
export interface Update {
  readonly ref: string
  readonly before: string | null
  readonly after: string | null
}

export const isNewTip = (update: Update): update is Update & { after: string } => update.after !== null

const after = (prefix: string) => (ref: string) => (ref.startsWith(prefix) ? ref.slice(prefix.length) : null)

export const branchOf = after('refs/heads/')
export const tagOf = after('refs/tags/')
