import { z } from 'zod'
import { faultsIn, filled, rule } from '../../../api/rules.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { isBranchName } from '../../../git/process/arguments.ts'
import type { Project } from '../../projects/projects/queries.ts'
import type { Allowance } from './matching.ts'
import type { Ability } from './model.ts'

/** Errors of refs are a list of whole sentences. */
export const unprocessable = (sentences: string[]) => new Refusal('unprocessable', sentences)

/** An impossible branch or tag name would protect nothing without anybody noticing. */
const nameRule = filled(z.string(), 255, { last: true }).check(
  rule((name) => isBranchName(name.replaceAll('*', 'x')), 'is invalid'),
)

export function assertValidName(name: string): void {
  const faults = faultsIn(nameRule, name)
  if (faults.length > 0) throw unprocessable(faults.map((fault) => `Name ${fault}`))
}

const ABILITY = { push: 'Push', merge: 'Merge', unprotect: 'Unprotect', create: 'Create' } satisfies Record<
  Ability,
  string
>

/**
 * Rejects principals outside the project: an entry would not help them, and the answer would reveal that they exist.
 */
export async function assertOfProject(app: App, project: Project, entries: readonly Allowance[]): Promise<void> {
  const named = (column: 'user_id' | 'group_id' | 'deploy_key_id') =>
    [...new Set(entries.map((entry) => entry[column]))].filter((id) => id !== null)
  const users = await membersAmong(app, project, named('user_id'))
  const groups = await groupsAround(app, project, named('group_id'))
  const keys = await keysAmong(app, project, named('deploy_key_id'))

  const faults = entries.flatMap(({ ability, user_id, group_id, deploy_key_id }) => {
    const subject = `${ABILITY[ability]} access levels`
    if (user_id !== null && !users.has(user_id)) return [`${subject} user is not a member of the project`]
    if (group_id !== null && !groups.has(group_id)) return [`${subject} group does not have access to the project`]
    if (deploy_key_id !== null && !keys.has(deploy_key_id))
      return [`${subject} deploy key is not enabled for this project`]
    return []
  })
  if (faults.length > 0) throw unprocessable([...new Set(faults)])
}

async function membersAmong({ db }: App, project: Project, users: number[]): Promise<Set<number>> {
  if (users.length === 0) return new Set()
  const rows = await db
    .selectFrom('project_authorizations')
    .select('user_id')
    .where('project_id', '=', project.id)
    .where('user_id', 'in', users)
    .execute()
  return new Set(rows.map(({ user_id }) => user_id))
}

/** The groups that the project or a group above it is shared with, and the groups above the project. */
async function groupsAround({ db }: App, project: Project, groups: number[]): Promise<Set<number>> {
  if (groups.length === 0) return new Set()
  const shares = await db
    .selectFrom('project_shares')
    .select('group_id')
    .where('project_id', '=', project.id)
    .where('group_id', 'in', groups)
    .execute()
  const above = await db
    .selectFrom('namespace_ancestors')
    .innerJoin('namespaces', 'namespaces.id', 'ancestor_id')
    .select('ancestor_id as group_id')
    .where('namespace_id', '=', project.namespace_id)
    .where('ancestor_id', 'in', groups)
    .where('kind', '=', 'group')
    .execute()
  const around = await db
    .selectFrom('namespace_ancestors')
    .innerJoin('group_shares', 'group_shares.group_id', 'ancestor_id')
    .select('shared_with_group_id as group_id')
    .where('namespace_id', '=', project.namespace_id)
    .where('shared_with_group_id', 'in', groups)
    .execute()
  return new Set([...shares, ...above, ...around].map(({ group_id }) => group_id))
}

/** Keys with write access. An entry for a read-only key would have no effect. */
async function keysAmong({ db }: App, project: Project, keys: number[]): Promise<Set<number>> {
  if (keys.length === 0) return new Set()
  const rows = await db
    .selectFrom('deploy_key_projects')
    .select('key_id')
    .where('project_id', '=', project.id)
    .where('key_id', 'in', keys)
    .where('can_push', '=', true)
    .execute()
  return new Set(rows.map(({ key_id }) => key_id))
}
