/** How requests name the allowed principals: a level as a shorthand, or a list with users, groups and keys. */
import { z } from 'zod'
import { arrayOf, bool, id, int } from '../../../api/wire.ts'
import { Developer, Master, NoAccess } from '../../../lib/levels.ts'
import { Administrators } from './entity.ts'
import type { Allowance } from './matching.ts'
import type { Ability } from './model.ts'

const MOST_ENTRIES = 100

export const level = int.pipe(z.literal([NoAccess, Developer, Master, Administrators]))
/** A level that always leaves a principal who can remove the rule. */
export const unprotectLevel = int.pipe(z.literal([Developer, Master, Administrators]))

const subjects = { access_level: level.nullish(), user_id: id.nullish(), group_id: id.nullish() }
/** Deploy keys can only push. */
const pushers = { ...subjects, deploy_key_id: id.nullish() }
const unprotectors = { ...subjects, access_level: unprotectLevel.nullish() }
const change = { id: id.nullish(), _destroy: bool.nullish() }

export type AccessInput = Partial<Record<'access_level' | 'user_id' | 'group_id' | 'deploy_key_id', number | null>>
export interface Change extends AccessInput {
  id?: number | null
  _destroy?: boolean | null
}

const countOf = (input: AccessInput) =>
  [input.access_level, input.user_id, input.group_id, input.deploy_key_id].filter((one) => typeof one === 'number')
    .length

const namesOne = (input: AccessInput) => countOf(input) === 1
const isChange = (one: Change) => (one._destroy ? typeof one.id === 'number' : namesOne(one))

const inputs = <S extends z.ZodRawShape>(shape: S) => arrayOf(z.object(shape).refine(namesOne), MOST_ENTRIES).nullish()
const changes = <S extends z.ZodRawShape>(shape: S) =>
  arrayOf(
    z.object({ ...shape, ...change }).refine((one) => isChange(one as Change)),
    MOST_ENTRIES,
  ).nullish()

export const allowedTo = {
  allowed_to_push: inputs(pushers),
  allowed_to_merge: inputs(subjects),
  allowed_to_unprotect: inputs(unprotectors),
}
export const allowedToCreate = inputs(pushers)

export const changedAllowedTo = {
  allowed_to_push: changes(pushers),
  allowed_to_merge: changes(subjects),
  allowed_to_unprotect: changes(unprotectors),
}

/** Converts the input to a stored entry. */
export const entryOf = (ability: Ability, input: AccessInput): Allowance => ({
  ability,
  access_level: input.access_level ?? null,
  user_id: input.user_id ?? null,
  group_id: input.group_id ?? null,
  deploy_key_id: input.deploy_key_id ?? null,
})

/** Maintainers, unless the input names others. */
export function entriesOf(
  ability: Ability,
  level: number | null | undefined,
  named: readonly AccessInput[] | null | undefined,
): Allowance[] {
  const isNamed = named && named.length > 0
  const levels = isNamed && typeof level !== 'number' ? [] : [{ access_level: level ?? Master }]
  return [...levels, ...(named ?? [])].map((input) => entryOf(ability, input))
}
