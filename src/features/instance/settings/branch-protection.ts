/** Protection of the default branch of a new project: by single rights if they are set, else by one of a few levels. */
import { z } from 'zod'
import { arrayOf, bool, int } from '../../../api/wire.ts'
import { Developer, Master, NoAccess } from '../../../lib/levels.ts'

const Administrators = 60
const MOST_ENTRIES = 100

const levels = arrayOf(
  z.object({ access_level: int.pipe(z.literal([NoAccess, Developer, Master, Administrators])) }),
  MOST_ENTRIES,
).nullish()

const Rights = z.object({
  allowed_to_push: levels,
  allowed_to_merge: levels,
  allow_force_push: bool.nullish(),
  developer_can_initial_push: bool.nullish(),
})

/** Other keys are stored and returned unchanged. */
export const areRights = (value: Record<string, unknown>): boolean => Rights.safeParse(value).success

export interface Protection {
  /** Access levels. */
  readonly push: readonly number[]
  readonly merge: readonly number[]
  readonly allow_force_push: boolean
  /** Developers may make the first push to an empty repository. */
  readonly developersBegin: boolean
}

interface Wished {
  readonly default_branch_protection: number
  readonly default_branch_protection_defaults: Record<string, unknown>
}

/** Null: no protection. */
export function usualProtection({
  default_branch_protection: level,
  default_branch_protection_defaults: rights,
}: Wished): Protection | null {
  // A value that an older version stored must not block a push.
  const { data } = Rights.safeParse(rights)
  return data && Object.keys(rights).length > 0 ? byRights(data) : byLevel(level)
}

const NONE = 0
const DEVELOPERS_PUSH = 1
const DEVELOPERS_MERGE = 3

function byLevel(level: number): Protection | null {
  if (level === NONE) return null
  return {
    push: [level === DEVELOPERS_PUSH ? Developer : Master],
    merge: [level === DEVELOPERS_MERGE ? Developer : Master],
    allow_force_push: false,
    developersBegin: level === DEVELOPERS_PUSH,
  }
}

function byRights(rights: z.infer<typeof Rights>): Protection | null {
  const [push, merge] = [levelsOf(rights.allowed_to_push), levelsOf(rights.allowed_to_merge)]
  const allow_force_push = rights.allow_force_push ?? false
  // Rights that restrict developers in nothing protect nothing.
  if (allow_force_push && push.includes(Developer) && merge.includes(Developer)) return null
  const developersBegin = (rights.developer_can_initial_push ?? false) || push.includes(Developer)
  return { push, merge, allow_force_push, developersBegin }
}

/** Maintainers, if no level is named. */
function levelsOf(entries: z.infer<typeof levels>): number[] {
  const named = new Set(entries?.map((entry) => entry.access_level))
  return named.size === 0 ? [Master] : [...named]
}
