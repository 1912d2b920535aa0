/** Roles by the numbers of the contract. */
import type { Records } from './api.ts'

export const ROLES: readonly (readonly [value: string, text: string])[] = [
  ['10', 'Guest'],
  ['20', 'Reporter'],
  ['30', 'Developer'],
  ['40', 'Maintainer'],
  ['50', 'Owner'],
]

export const roleName = (level: number | null): string =>
  level === 60
    ? 'Administrators'
    : level === 0 || level === null
      ? 'No one'
      : (ROLES.find(([value]) => Number(value) === level)?.[1] ?? String(level))

/** Roles that a user with this level may grant. */
export const rolesUpTo = (level: number) => ROLES.filter(([value]) => Number(value) <= level)

export const VISIBILITIES = [
  ['private', 'Private: members only'],
  ['internal', 'Internal: all signed-in users'],
  ['public', 'Public: everyone'],
] as const

export type VisibilityWord = 'private' | 'internal' | 'public'

/** The viewer's level here, by the numbers of the contract: 20 reporter, 30 developer, 40 maintainer, 50 owner. */
export function levelOf({ permissions }: Pick<Records['Project'], 'permissions'>): number {
  const own = permissions?.project_access?.access_level ?? 0
  return Math.max(own, permissions?.group_access?.access_level ?? 0)
}
