import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import type { Commit } from '../../../git/objects/commits.ts'
import type { Branch } from '../../../git/refs/refs.ts'
import { Developer } from '../../../lib/levels.ts'
import { encodeSegments } from '../../../lib/text/segments.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { CommitEntity, presentCommit } from '../commits/entity.ts'
import { isProtected, matches, type Rules } from '../protected-branches/matching.ts'
import type { BranchAbility } from '../protected-branches/model.ts'

/** A branch with its newest commit. */
export interface Head extends Branch {
  readonly commit: Commit
}

export const BranchEntity = entity({
  name: z.string(),
  commit: CommitEntity,
  merged: z.boolean(),
  protected: z.boolean(),
  developers_can_push: z.boolean(),
  developers_can_merge: z.boolean(),
  can_push: z.boolean(),
  default: z.boolean(),
  web_url: z.string(),
}).meta({ id: 'Branch' })

export interface BranchSurroundings {
  /** The URL of the project. */
  readonly url: string
  readonly defaultBranch: string
  readonly merged: ReadonlySet<string>
  readonly rules: Rules
  /** Whether the viewer may push to the branch. */
  mayPush(name: string): boolean
}

export function presentBranch({ name, commit }: Head, around: BranchSurroundings): z.infer<typeof BranchEntity> {
  return {
    name,
    commit: presentCommit(commit, around),
    merged: around.merged.has(name),
    protected: isProtected(around.rules, name),
    developers_can_push: developersCan(around.rules, name, 'push'),
    developers_can_merge: developersCan(around.rules, name, 'merge'),
    can_push: around.mayPush(name),
    default: name === around.defaultBranch,
    web_url: pageBelow(around.url, `tree/${encodeSegments(name)}`),
  }
}

/**
 * Whether a rule allows developers this ability. On an unprotected branch developers have it anyway, and both fields
 * are false.
 */
const developersCan = (rules: Rules, name: string, branchAbility: BranchAbility): boolean =>
  rules
    .filter((rule) => matches(rule.name, name))
    .some(({ allowances }) =>
      allowances.some(({ ability, access_level }) => ability === branchAbility && access_level === Developer),
    )
