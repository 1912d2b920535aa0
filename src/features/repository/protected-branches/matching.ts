/**
 * Decides who may do what to a protected name. Pure, over the rules of a project. If several rules match, the most
 * permissive one wins.
 */
import type { User } from '../../../context.ts'
import { Developer, NoAccess } from '../../../lib/levels.ts'
import type { Ability } from './model.ts'

/** One entry of a rule: all users of a level, or one user, group or deploy key. */
export interface Allowance {
  readonly ability: Ability
  readonly access_level: number | null
  readonly user_id: number | null
  readonly group_id: number | null
  readonly deploy_key_id: number | null
}

export interface Rule {
  /** A name, or a pattern with `*`. */
  readonly name: string
  readonly allow_force_push: boolean
  readonly allowances: readonly Allowance[]
}

export interface LoadedAllowance extends Allowance {
  readonly id: number
  /** The name of the user, the group or the deploy key. */
  readonly whose: string | null
  /** The group is deleted. The entry stays, for its return. */
  readonly inBin: boolean
}

export interface LoadedRule extends Rule {
  readonly id: number
  readonly project_id: number
  readonly code_owner_approval_required: boolean
  readonly updated_at: string
  readonly allowances: LoadedAllowance[]
}

export type Rules = readonly Rule[]

export interface Who {
  readonly user: Pick<User, 'id' | 'admin'> | null
  /** The access level on the project. */
  readonly level: number
  /** If set, the key is the principal, not the user behind it. */
  readonly deployKeyId?: number
  /** The groups that rules name and that the user belongs to. */
  readonly groups?: readonly number[]
}

/** `*` matches any characters, slashes included, or none. Each part is searched once, without backtracking. */
export function matches(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return pattern === name
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}

const rulesFor = (rules: Rules, name: string) => rules.filter((rule) => matches(rule.name, name))

export const isProtected = (rules: Rules, name: string): boolean => rules.some((rule) => matches(rule.name, name))

/** Without a rule, every user with push permission may push. */
export const mayPush = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['push'], who)

/** Users who may push may also merge. */
export const mayMerge = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['merge', 'push'], who)

export const mayCreateTag = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['create'], who)

/** Whether users who may push may also force push. */
export function mayForcePush(rules: Rules, name: string): boolean {
  const matching = rulesFor(rules, name)
  return matching.length === 0 || matching.some((rule) => rule.allow_force_push)
}

/** Checks one rule for an administrator of the project. A rule without such entries allows all of them. */
export function mayUnprotect({ allowances }: Rule, who: Who): boolean {
  const entries = allowances.filter(({ ability }) => ability === 'unprotect')
  return entries.length === 0 || entries.some((entry) => admits(entry, who))
}

function may(rules: Rules, name: string, abilities: readonly Ability[], who: Who): boolean {
  const matching = rulesFor(rules, name)
  const entries = matching.flatMap((rule) => rule.allowances).filter(({ ability }) => abilities.includes(ability))
  return matching.length === 0 || entries.some((entry) => admits(entry, who))
}

function admits(entry: Allowance, { user, level, deployKeyId, groups = [] }: Who): boolean {
  if (deployKeyId !== undefined || entry.deploy_key_id !== null) return entry.deploy_key_id === deployKeyId
  if (entry.access_level === NoAccess) return false
  if (user?.admin) return true
  if (entry.access_level !== null) return level >= entry.access_level
  // A rule does not raise the access level on the project: a named user may have left it since.
  if (level < Developer || !user) return false
  return entry.user_id === user.id || (entry.group_id !== null && groups.includes(entry.group_id))
}
