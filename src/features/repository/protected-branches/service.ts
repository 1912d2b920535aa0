import { timestamp } from '../../../clock.ts'
import type { App, User } from '../../../context.ts'
import { conflict, forbidden, notFound } from '../../../errors.ts'
import { Master } from '../../../lib/levels.ts'
import { TAKEN } from '../../../lib/text/faults.ts'
import type { RowChange } from '../../../store/database.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { usualProtection } from '../../instance/settings/branch-protection.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import type { Project } from '../../projects/projects/queries.ts'
import { entriesOf, entryOf, type Change } from './input.ts'
import { mayUnprotect, type Allowance, type LoadedRule } from './matching.ts'
import type { BranchAbility } from './model.ts'
import { findRule, groupsAmong, tablesOf, type Kind } from './queries.ts'
import { assertOfProject, assertValidName, unprocessable } from './validation.ts'

export interface NewRule {
  name: string
  allow_force_push?: boolean | null
  code_owner_approval_required?: boolean | null
  entries: readonly Allowance[]
}

export async function protectName(app: App, kind: Kind, project: Project, input: NewRule): Promise<LoadedRule> {
  assertValidName(input.name)
  const entries = distinct(input.entries)
  await assertOfProject(app, project, entries)
  const created = transact(app, async (app) => {
    const rule = await insertRule(app, kind, project, input).returning('id').executeTakeFirstOrThrow()
    await insertEntries(app, kind, rule.id, entries)
    return (await findRule(app.db, kind, project.id, input.name))!
  })
  return unlessTaken(created, tablesOf(kind).rules, [['project_id', 'name']], () =>
    kind === 'branch' ? conflict(`Protected branch '${input.name}' already exists`) : unprocessable([`Name ${TAKEN}`]),
  )
}

function insertRule(app: App, kind: Kind, project: Pick<Project, 'id'>, input: Omit<NewRule, 'entries'>) {
  const now = timestamp(app.clock)
  return app.db.insertInto(tablesOf(kind).rules).values({
    project_id: project.id,
    name: input.name,
    allow_force_push: input.allow_force_push ?? false,
    code_owner_approval_required: input.code_owner_approval_required ?? false,
    created_at: now,
    updated_at: now,
  })
}

async function insertEntries(app: App, kind: Kind, rule_id: number, entries: readonly Allowance[]): Promise<void> {
  if (entries.length === 0) return
  await app.db
    .insertInto(tablesOf(kind).allowances)
    .values(entries.map((entry) => ({ rule_id, ...entry })))
    .execute()
}

const keyOf = ({ ability, access_level, user_id, group_id, deploy_key_id }: Allowance) =>
  JSON.stringify([ability, access_level, user_id, group_id, deploy_key_id])

/** Removes duplicate entries. */
const distinct = (entries: readonly Allowance[]): Allowance[] => [
  ...new Map(entries.map((entry) => [keyOf(entry), entry])).values(),
]

export interface RuleChange {
  allow_force_push?: boolean | null
  code_owner_approval_required?: boolean | null
  changes: Partial<Record<BranchAbility, readonly Change[] | null | undefined>>
}

export async function changeProtectedBranch(
  app: App,
  actor: User,
  { project, level }: ProjectSubject,
  rule: LoadedRule,
  input: RuleChange,
): Promise<LoadedRule> {
  await assertMayUnprotect(app, actor, level, rule)
  const abilities = Object.entries(input.changes) as [BranchAbility, readonly Change[] | null | undefined][]
  const changes = abilities.flatMap(([ability, list]) =>
    (list ?? []).map(({ id, _destroy, ...named }) => ({ id, _destroy, entry: entryOf(ability, named) })),
  )
  const kept = changes.filter(({ _destroy }) => !_destroy).map(({ entry }) => entry)
  await assertOfProject(app, project, kept)

  return transact(app, async (app) => {
    const { numUpdatedRows } = await app.db
      .updateTable('protected_branches')
      .set({ ...flagsOf(input), updated_at: timestamp(app.clock) })
      .where('id', '=', rule.id)
      .executeTakeFirst()
    if (numUpdatedRows === 0n) throw notFound() // a concurrent request deleted the row
    for (const { id, _destroy, entry } of changes) {
      if (typeof id === 'number') await changeEntry(app, rule, id, _destroy ? null : entry)
    }
    const fresh = await findRule(app.db, 'branch', project.id, rule.name)
    const known = new Set(fresh!.allowances.map(keyOf))
    const added = changes.filter(({ id }) => typeof id !== 'number').map(({ entry }) => entry)
    await insertEntries(
      app,
      'branch',
      rule.id,
      distinct(added).filter((entry) => !known.has(keyOf(entry))),
    )
    return (await findRule(app.db, 'branch', project.id, rule.name))!
  })
}

function flagsOf({ allow_force_push, code_owner_approval_required }: RuleChange): RowChange<'protected_branches'> {
  return {
    ...(typeof allow_force_push === 'boolean' && { allow_force_push }),
    ...(typeof code_owner_approval_required === 'boolean' && { code_owner_approval_required }),
  }
}

/** Replaces an entry, or deletes it if the new entry is null. The id of another rule or ability is not found. */
async function changeEntry(app: App, rule: LoadedRule, id: number, entry: Allowance | null): Promise<void> {
  const known = rule.allowances.find((one) => one.id === id)
  if (!known || (entry && entry.ability !== known.ability)) throw notFound()
  const levels = 'protected_branch_levels'
  await (entry
    ? app.db.updateTable(levels).set(entry).where('id', '=', id).execute()
    : app.db.deleteFrom(levels).where('id', '=', id).execute())
}

export async function unprotectName(app: App, kind: Kind, actor: User, level: number, rule: LoadedRule): Promise<void> {
  await assertMayUnprotect(app, actor, level, rule)
  const { numDeletedRows } = await app.db.deleteFrom(tablesOf(kind).rules).where('id', '=', rule.id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // a concurrent request deleted the row
}

async function assertMayUnprotect(app: App, user: User, level: number, rule: LoadedRule): Promise<void> {
  const groups = await groupsAmong(app.db, user, [rule])
  if (!mayUnprotect(rule, { user, level, groups })) throw forbidden()
}

/** Protects the first branch as the settings of the instance say. An existing rule for the name stays. */
export async function protectDefaultBranch(app: App, project: Pick<Project, 'id'>, branch: string): Promise<void> {
  const usual = usualProtection(await currentSettings(app))
  if (!usual) return
  const { push, merge, allow_force_push } = usual
  const entries = [
    ...push.flatMap((level) => entriesOf('push', level, null)),
    ...merge.flatMap((level) => entriesOf('merge', level, null)),
    ...entriesOf('unprotect', Master, null),
  ]
  await transact(app, async (app) => {
    const rule = await insertRule(app, 'branch', project, { name: branch, allow_force_push })
      .onConflict((c) => c.columns(['project_id', 'name']).doNothing())
      .returning('id')
      .executeTakeFirst()
    if (rule) await insertEntries(app, 'branch', rule.id, entries)
  })
}

/**
 * Removes a key from all rules of a project when the key is disabled. Otherwise the key could push again once it is
 * enabled later.
 */
export async function forgetDeployKey(app: App, project: number, key: number): Promise<void> {
  for (const kind of ['branch', 'tag'] as const) {
    const { rules, allowances } = tablesOf(kind)
    await app.db
      .deleteFrom(allowances)
      .where('deploy_key_id', '=', key)
      .where('rule_id', 'in', (eb) => eb.selectFrom(rules).select('id').where('project_id', '=', project))
      .execute()
  }
}
