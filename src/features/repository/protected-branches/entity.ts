import { z } from 'zod'
import { entity } from '../../../api/wire.ts'
import { Developer, Master, NoAccess } from '../../../lib/levels.ts'
import type { LoadedAllowance, LoadedRule } from './matching.ts'
import type { Ability } from './model.ts'

/** Above every role: administrators of the instance only. */
export const Administrators = 60

const WORDS = new Map([
  [NoAccess, 'No one'],
  [Developer, 'Developers + Masters'],
  [Master, 'Masters'],
  [Administrators, 'Instance admins'],
])

export const AllowanceEntity = entity({
  id: z.int(),
  access_level: z.int().nullable(),
  access_level_description: z.string(),
  user_id: z.int().nullable(),
  group_id: z.int().nullable(),
  deploy_key_id: z.int().nullable(),
}).meta({ id: 'ProtectedRefAccess' })

export const ProtectedBranchEntity = entity({
  id: z.int(),
  name: z.string(),
  push_access_levels: z.array(AllowanceEntity),
  merge_access_levels: z.array(AllowanceEntity),
  unprotect_access_levels: z.array(AllowanceEntity),
  allow_force_push: z.boolean(),
  code_owner_approval_required: z.boolean(),
  inherited: z.boolean(),
}).meta({ id: 'ProtectedBranch' })

export function presentProtectedBranch(rule: LoadedRule): z.infer<typeof ProtectedBranchEntity> {
  return {
    id: rule.id,
    name: rule.name,
    push_access_levels: presentAllowances(rule, 'push'),
    merge_access_levels: presentAllowances(rule, 'merge'),
    unprotect_access_levels: presentAllowances(rule, 'unprotect'),
    allow_force_push: rule.allow_force_push,
    code_owner_approval_required: rule.code_owner_approval_required,
    inherited: false, // groups have no protection rules for their projects
  }
}

/** Entries of roles only, without named users, groups and keys. */
export const withoutNames = (rule: LoadedRule): LoadedRule => ({
  ...rule,
  allowances: rule.allowances.filter(({ whose }) => whose === null),
})

export const presentAllowances = ({ allowances }: LoadedRule, ability: Ability) =>
  allowances.filter((one) => one.ability === ability && !one.inBin).map(presentAllowance)

function presentAllowance(one: LoadedAllowance): z.infer<typeof AllowanceEntity> {
  return {
    id: one.id,
    access_level: one.access_level,
    access_level_description: one.whose ?? WORDS.get(one.access_level ?? NoAccess) ?? '',
    user_id: one.user_id,
    group_id: one.group_id,
    deploy_key_id: one.deploy_key_id,
  }
}
