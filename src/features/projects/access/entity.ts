import { z } from 'zod'
import { dateOut, entity } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { Guest, NoAccess, Owner, type Visibility } from '../../../lib/levels.ts'
import type { Row } from '../../../store/database.ts'
import { UserSummaryEntity, type UserSummary } from '../../identity/users/entity.ts'

const groupEntity = entity({ id: z.int(), full_path: z.string() })

/** One rule that gives a level, or the reason why it gives none. */
const ruleEntity = entity({
  rule: z.enum([
    'administrator',
    'personal_namespace',
    'direct_membership',
    'inherited_membership',
    'group_share',
    'visibility',
  ]),
  /** The level that this rule alone gives. */
  access_level: z.int(),
  counts: z.boolean(),
  /** Why the rule does not count. */
  reason: z.string().optional(),
  /** The group of the membership. */
  group: groupEntity.optional(),
  /** For a share: the group above the project that is shared. Absent if the project itself is shared. */
  shared_group: groupEntity.optional(),
  /** The group that gets the share, and the maximum level of the share. */
  shared_with: groupEntity.optional(),
  group_access: z.int().optional(),
  member_access_level: z.int().optional(),
  expires_at: dateOut.nullable().optional(),
})

export const AccessEntity = entity({
  user: UserSummaryEntity,
  project: entity({ id: z.int(), path_with_namespace: z.string(), visibility: z.string() }),
  access_level: z.int(),
  /** Whether the user can read the project at all, with or without a level. */
  readable: z.boolean(),
  rules: z.array(ruleEntity),
}).meta({ id: 'Access' })

export type AccessRule = z.infer<typeof ruleEntity>

interface Scope {
  id: number
  full_path: string
}

/** All facts that could give the user a level on the project. */
export interface AccessFacts {
  readonly user: User
  readonly visibility: Visibility
  readonly open: boolean
  readonly ownsNamespace: boolean
  readonly direct: Pick<Row<'members'>, 'access_level' | 'expires_at'> | null
  readonly inherited: readonly (Scope & Pick<Row<'members'>, 'access_level' | 'expires_at'>)[]
  readonly shares: readonly {
    group: Scope
    shared_group?: Scope
    shared_with: Scope
    group_access: number
    member_access_level: number
    expires_at: string | null
    locked: boolean
  }[]
}

const BLOCKED = 'the user is blocked'
const MINIMAL = { counts: false, reason: 'minimal access to a group opens nothing inside' }

/** The rules, in the order in which a person looks for a reason. The highest rule that counts gives the level. */
export function rulesOf(facts: AccessFacts): AccessRule[] {
  const { user, direct } = facts
  const blocked = user.state !== 'active'
  const state = blocked ? { counts: false, reason: BLOCKED } : { counts: true }
  const rules: AccessRule[] = []
  if (user.admin) rules.push({ rule: 'administrator', access_level: Owner, ...state })
  if (facts.ownsNamespace) rules.push({ rule: 'personal_namespace', access_level: Owner, ...state })
  if (direct) rules.push({ rule: 'direct_membership', ...direct, ...state })
  for (const { id, full_path, access_level, expires_at } of facts.inherited) {
    const reaching = access_level < Guest ? MINIMAL : state
    rules.push({ rule: 'inherited_membership', access_level, expires_at, group: { id, full_path }, ...reaching })
  }
  for (const { locked, ...share } of facts.shares) {
    const void_ = { counts: false, reason: "the project's group forbids sharing" }
    const access_level = Math.min(share.group_access, share.member_access_level)
    const reaching = access_level < Guest ? MINIMAL : state
    rules.push({ rule: 'group_share', access_level, ...share, ...(locked ? void_ : reaching) })
  }
  rules.push({ rule: 'visibility', access_level: NoAccess, ...visibilityRule(facts, blocked) })
  return rules
}

function visibilityRule({ user, visibility, open }: AccessFacts, blocked: boolean) {
  if (open) return { counts: true }
  if (blocked) return { counts: false, reason: BLOCKED }
  const external = user.external && visibility === 'internal'
  return {
    counts: false,
    reason: external ? 'internal projects are closed to external users' : 'the project is private',
  }
}

export function presentAccess(
  facts: AccessFacts,
  user: UserSummary,
  project: { id: number; path_with_namespace: string; visibility: string },
): z.infer<typeof AccessEntity> {
  const rules = rulesOf(facts)
  const access_level = Math.max(NoAccess, ...rules.filter(({ counts }) => counts).map((rule) => rule.access_level))
  return { user, project, access_level, readable: facts.open || access_level >= Guest, rules }
}
