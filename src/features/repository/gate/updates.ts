import type { User } from '../../../context.ts'

/** The principal that moves refs. */
export interface Pusher {
  /** Null for a deploy key without a creator. */
  readonly user: User | null
  readonly level: number
  readonly deployKeyId?: number
  readonly via: 'http' | 'ssh' | 'web'
  /** A merge request; protected branches have a separate level for merges. */
  readonly merging?: true
}

/** Null means no ref: before its creation, or after its deletion. */
export interface Update {
  readonly ref: string
  readonly before: string | null
  readonly after: string | null
}

export const isNewTip = (update: Update): update is Update & { after: string } => update.after !== null

const after = (prefix: string) => (ref: string) => (ref.startsWith(prefix) ? ref.slice(prefix.length) : null)

export const branchOf = after('refs/heads/')
export const tagOf = after('refs/tags/')
