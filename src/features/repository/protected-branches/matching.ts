/**
 * Who may do what to a protected name: pure, over the rules of a project. Where several match, what any allows holds.
 */
import type { User } from '../../../context.ts'
import { Developer, NoAccess } from '../../../lib/levels.ts'
import type { Ability } from './model.ts'

/** One entry of a rule: everybody of a level, or one user, group or deploy key. */
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
  /** Of the user, the group or the deploy key. */
  readonly whose: string | null
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
  /** On the project. */
  readonly level: number
  /** Then it is the key that asks, not the person behind it. */
  readonly deployKeyId?: number
  /** Of the groups that rules name, those the user belongs to. */
  readonly groups?: readonly number[]
}

/** `*` stands for any run of characters, slashes and none included. Each part is looked for once: no backtracking. */
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

/** No rule, no bar: whoever may push at all may push here. */
export const mayPush = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['push'], who)

/** Whoever may push may bring in a merge as well. */
export const mayMerge = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['merge', 'push'], who)

export const mayCreateTag = (rules: Rules, name: string, who: Who): boolean => may(rules, name, ['create'], who)

/** Whether those who may push there may also rewrite it. */
export function mayForcePush(rules: Rules, name: string): boolean {
  const matching = rulesFor(rules, name)
  return matching.length === 0 || matching.some((rule) => rule.allow_force_push)
}

/** Asked of one rule, by whoever administers the project; a rule without such entries leaves it to all of them. */
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
  // A rule lifts nobody above what the project gives them: those it names may have left since.
  if (level < Developer || !user) return false
  return entry.user_id === user.id || (entry.group_id !== null && groups.includes(entry.group_id))
}
