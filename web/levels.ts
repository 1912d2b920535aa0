/** Roles by the numbers of the contract. */
import type { Records } from './api.ts'
import * as t from './texts/common.ts'

export const ROLES: readonly (readonly [value: string, text: string])[] = [
  ['10', t.guest],
  ['20', t.reporter],
  ['30', t.developer],
  ['40', t.maintainer],
  ['50', t.owner],
]

export const roleName = (level: number | null): string =>
  level === 60
    ? t.administrators
    : level === 0 || level === null
      ? t.noOne
      : (ROLES.find(([value]) => Number(value) === level)?.[1] ?? String(level))

/** Roles that a user with this level may grant. */
export const rolesUpTo = (level: number) => ROLES.filter(([value]) => Number(value) <= level)

export const VISIBILITIES = [
  ['private', t.privateMembersOnly],
  ['internal', t.internalAllSignedInUsers],
  ['public', t.publicEveryone],
] as const

export type VisibilityWord = 'private' | 'internal' | 'public'

/** The viewer's level here, by the numbers of the contract: 20 reporter, 30 developer, 40 maintainer, 50 owner. */
export function levelOf({ permissions }: Pick<Records['Project'], 'permissions'>): number {
  const own = permissions?.project_access?.access_level ?? 0
  return Math.max(own, permissions?.group_access?.access_level ?? 0)
}
