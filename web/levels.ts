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

const DEVELOPER = 30
export const OWNER = 50

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

/** Members who can be asked to review and to approve. */
export const developersAmong = <M extends Pick<Records['Member'], 'access_level'>>(members: readonly M[]): M[] =>
  members.filter(({ access_level }) => access_level >= DEVELOPER)

/** The viewer's role here, by the numbers of the contract: what they may do is in the `can` of a record. */
export function levelOf({ permissions }: Pick<Records['Project'], 'permissions'>): number {
  const own = permissions?.project_access?.access_level ?? 0
  return Math.max(own, permissions?.group_access?.access_level ?? 0)
}
