import { sql } from 'kysely'
import { z } from 'zod'
import { assertRules, limited, rulesOf, upTo } from '../../../api/rules.ts'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { forbidden, invalid, notFound, taken } from '../../../errors.ts'
import { Developer } from '../../../lib/levels.ts'
import type { Db, NewRow } from '../../../store/database.ts'
import { idList, inIdList, textsIn } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { unlessTaken } from '../../../store/violations.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import type { ProjectSubject } from '../../projects/projects/policy.ts'
import { assertOwnRules } from '../approvals/service.ts'
import { findApprovalSettings } from '../approval-settings/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { lockMergeRequest } from '../merge-requests/service.ts'
import { approversIn, askApprovers } from './asking.ts'
import type { ApprovalRule } from './model.ts'
import { findProjectRule } from './queries.ts'

interface NamedRecord {
  user_ids?: readonly number[] | null | undefined
  usernames?: readonly string[] | null | undefined
  group_ids?: readonly number[] | null | undefined
}

export interface RuleInput extends NamedRecord {
  name?: string | undefined
  approvals_required?: number | undefined
  rule_type?: 'regular' | 'any_approver' | null | undefined
  protected_branch_ids?: readonly number[] | null | undefined
  applies_to_all_protected_branches?: boolean | null | undefined
  /** Only for a rule of a merge request: the rule of the project to copy. */
  approval_project_rule_id?: number | null | undefined
  remove_hidden_groups?: boolean | null | undefined
}

const MOST_RULES = 100

const inputRules = rulesOf({
  name: limited(z.string(), 255, { codePoints: true }),
  approvals_required: upTo(100),
})

/** The linked records to write. Null: the input does not change them. */
interface Links {
  readonly users: readonly number[] | null
  readonly groups: readonly number[] | null
  readonly branches: readonly number[] | null
}

/** Keeps only users who may approve, groups that the caller may see, and branches of the project. */
async function linksOf({ db }: App, subject: ProjectSubject, input: RuleInput): Promise<Links> {
  const { user_ids, usernames, group_ids, protected_branch_ids } = input
  const namesPeople = Boolean(user_ids) || Boolean(usernames)
  return {
    users: namesPeople ? await usersAmong(db, subject, input) : null,
    groups: group_ids ? await groupsAmong(db, subject, group_ids) : null,
    branches: protected_branch_ids ? await branchesAmong(db, subject, protected_branch_ids) : null,
  }
}

async function usersAmong(
  db: Db,
  { project }: ProjectSubject,
  { user_ids, usernames }: NamedRecord,
): Promise<number[]> {
  const names = JSON.stringify((usernames ?? []).map((name) => name.toLowerCase()))
  const rows = await db
    .selectFrom('users')
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.user_id', '=', 'users.id').on('t.project_id', '=', project.id),
    )
    .select('users.id')
    .where((eb) =>
      eb.or([
        inIdList(db, 'users.id', idList(db, user_ids ?? [])),
        sql<boolean>`lower(users.username) in (${textsIn(db, names)})`,
      ]),
    )
    .where((eb) => eb.or([eb('users.admin', '=', true), eb('t.access_level', '>=', Developer)]))
    .execute()
  return rows.map(({ id }) => id)
}

async function groupsAmong(db: Db, { viewer }: ProjectSubject, ids: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('namespaces')
    .select('id')
    .where('kind', '=', 'group')
    .where('deleting', '=', false)
    .where(inIdList(db, 'id', idList(db, ids)))
    .$if(!viewer?.admin, (query) =>
      query.where((eb) =>
        eb.or([
          eb('visibility', 'in', [...openVisibilities(viewer)]),
          sql<boolean>`id in (${groupsOfUser(viewer?.id ?? 0)})`,
        ]),
      ),
    )
    .execute()
  return rows.map(({ id }) => id)
}

async function branchesAmong(db: Db, { project }: ProjectSubject, ids: readonly number[]): Promise<number[]> {
  const rows = await db
    .selectFrom('protected_branches')
    .select('id')
    .where('project_id', '=', project.id)
    .where(inIdList(db, 'id', idList(db, ids)))
    .execute()
  return rows.map(({ id }) => id)
}

async function link({ db }: App, rule_id: number, { users, groups, branches }: Links): Promise<void> {
  if (users) {
    await db.deleteFrom('approval_rule_users').where('rule_id', '=', rule_id).execute()
    const rows = users.map((user_id) => ({ rule_id, user_id }))
    if (rows.length > 0) await db.insertInto('approval_rule_users').values(rows).execute()
  }
  if (groups) {
    const rows = groups.map((group_id) => ({ rule_id, group_id }))
    if (rows.length > 0)
      await db
        .insertInto('approval_rule_groups')
        .values(rows)
        .onConflict((c) => c.doNothing())
        .execute()
  }
  if (branches) {
    await db.deleteFrom('approval_rule_branches').where('rule_id', '=', rule_id).execute()
    const rows = branches.map((protected_branch_id) => ({ rule_id, protected_branch_id }))
    if (rows.length > 0) await db.insertInto('approval_rule_branches').values(rows).execute()
  }
}

/** Groups that the caller may not see stay linked, unless the input removes them. */
async function unlinkGroups({ db }: App, subject: ProjectSubject, rule_id: number, input: RuleInput): Promise<void> {
  if (!input.group_ids) return
  const named = await db.selectFrom('approval_rule_groups').select('group_id').where('rule_id', '=', rule_id).execute()
  const ids = named.map(({ group_id }) => group_id)
  const gone = input.remove_hidden_groups ? ids : await groupsAmong(db, subject, ids)
  if (gone.length > 0)
    await db.deleteFrom('approval_rule_groups').where('rule_id', '=', rule_id).where('group_id', 'in', gone).execute()
}

const refusingTaken = <T>(change: Promise<T>): Promise<T> =>
  unlessTaken(
    change,
    'approval_rules',
    [
      ['project_id', 'name'],
      ['merge_request_id', 'name'],
    ],
    () => taken('name'),
  )

type Scope = Pick<ApprovalRule, 'project_id' | 'merge_request_id'>

async function insert(
  app: App,
  subject: ProjectSubject,
  scope: Scope,
  input: RuleInput & { name: string; approvals_required: number },
  source_rule_id: number | null = null,
): Promise<ApprovalRule> {
  const { db, clock } = app
  const links = await linksOf(app, subject, input)
  const rule_type = input.rule_type ?? 'regular'
  assertFits(rule_type, links)
  await assertRuleAllowed(db, scope, rule_type === 'any_approver')
  const now = timestamp(clock)
  const row: NewRow<'approval_rules'> = {
    ...scope,
    source_rule_id,
    rule_type,
    name: input.name.trim(),
    section: null,
    approvals_required: input.approvals_required,
    applies_to_all_protected_branches: input.applies_to_all_protected_branches ?? false,
    created_at: now,
    updated_at: now,
  }
  const created = await db.insertInto('approval_rules').values(row).returningAll().executeTakeFirstOrThrow()
  await link(app, created.id, links)
  return created
}

function assertFits(rule_type: ApprovalRule['rule_type'], { users, groups }: Links): void {
  const isNaming = Boolean(users?.length) || Boolean(groups?.length)
  if (isNaming && rule_type === 'any_approver') throw invalid({ rule_type: ['any-approver rules name nobody'] })
}

/** At most one `any_approver` rule exists per scope. */
async function assertRuleAllowed(db: Db, { project_id, merge_request_id }: Scope, isAny: boolean): Promise<void> {
  const there = await db
    .selectFrom('approval_rules')
    .select('rule_type')
    .where('project_id', '=', project_id)
    .where('merge_request_id', merge_request_id === null ? 'is' : '=', merge_request_id)
    .where('rule_type', '!=', 'code_owner')
    .execute()
  if (there.length >= MOST_RULES) throw invalid({ base: [`no more than ${MOST_RULES} rules are allowed`] })
  if (isAny && there.some(({ rule_type }) => rule_type === 'any_approver'))
    throw invalid({ rule_type: ['any-approver for the project already exists'] })
}

async function change(app: App, subject: ProjectSubject, rule: ApprovalRule, input: RuleInput): Promise<ApprovalRule> {
  const links = await linksOf(app, subject, input)
  assertFits(rule.rule_type, links)
  const { name, approvals_required, applies_to_all_protected_branches } = input
  const changed = await app.db
    .updateTable('approval_rules')
    .set({
      ...(name !== undefined && { name: name.trim() }),
      ...(approvals_required !== undefined && { approvals_required }),
      ...(typeof applies_to_all_protected_branches === 'boolean' && { applies_to_all_protected_branches }),
      updated_at: timestamp(app.clock),
    })
    .where('id', '=', rule.id)
    .returningAll()
    .executeTakeFirst()
  if (!changed) throw notFound() // deleted by another request meanwhile
  await unlinkGroups(app, subject, rule.id, input)
  await link(app, rule.id, links)
  return changed
}

async function remove({ db }: App, { id }: ApprovalRule): Promise<void> {
  const { numDeletedRows } = await db.deleteFrom('approval_rules').where('id', '=', id).executeTakeFirst()
  if (numDeletedRows === 0n) throw notFound() // deleted by another request meanwhile
}

type NewRule = RuleInput & { name: string; approvals_required: number }

export async function createProjectRule(app: App, subject: ProjectSubject, input: NewRule): Promise<ApprovalRule> {
  assertRules(inputRules, input)
  const scope = { project_id: subject.project.id, merge_request_id: null }
  return refusingTaken(transact(app, (app) => insert(app, subject, scope, input)))
}

export async function changeProjectRule(
  app: App,
  subject: ProjectSubject,
  rule: ApprovalRule,
  input: RuleInput,
): Promise<ApprovalRule> {
  assertRules(inputRules, input)
  return refusingTaken(transact(app, (app) => change(app, subject, rule, input)))
}

export const removeProjectRule = (app: App, rule: ApprovalRule): Promise<void> => remove(app, rule)

/** Runs `work` on a locked, open merge request, where the project allows rules of merge requests. */
async function ofOpen<T>(
  app: App,
  subject: MergeRequestSubject,
  work: (app: App, locked: MergeRequest) => Promise<T>,
): Promise<T> {
  return refusingTaken(
    transact(app, async (app) => {
      const locked = await lockMergeRequest(app, subject.mergeRequest.id)
      assertOwnRules(await findApprovalSettings(app.db, locked.project_id))
      if (locked.state !== 'opened') throw forbidden()
      return work(app, locked)
    }),
  )
}

export async function createMergeRequestRule(
  app: App,
  subject: MergeRequestSubject,
  input: NewRule,
): Promise<ApprovalRule> {
  assertRules(inputRules, input)
  const { project, mergeRequest } = subject
  const scope = { project_id: project.id, merge_request_id: mergeRequest.id }
  return ofOpen(app, subject, async (app, locked) => {
    const source = input.approval_project_rule_id
      ? await findProjectRule(app.db, project.id, input.approval_project_rule_id)
      : null
    if (source === undefined) throw notFound()
    const copy = source && (await namedBy(app.db, source.id))
    const created = await insert(app, subject, scope, { ...copy, ...input }, source?.id ?? null)
    await ask(app, subject, locked, created, new Set())
    return created
  })
}

/** Creates to-do items for users whom the rule newly names. */
async function ask(
  app: App,
  { viewer }: MergeRequestSubject,
  locked: MergeRequest,
  { id, approvals_required }: ApprovalRule,
  before: ReadonlySet<number>,
): Promise<void> {
  if (!viewer || approvals_required === 0) return
  const named = [...(await approversIn(app, [id]))].filter((user) => !before.has(user))
  await askApprovers(app, locked, viewer.id, named)
}

async function namedBy(db: Db, rule: number): Promise<NamedRecord> {
  const users = await db.selectFrom('approval_rule_users').select('user_id').where('rule_id', '=', rule).execute()
  const groups = await db.selectFrom('approval_rule_groups').select('group_id').where('rule_id', '=', rule).execute()
  return { user_ids: users.map(({ user_id }) => user_id), group_ids: groups.map(({ group_id }) => group_id) }
}

/** Code owner rules follow the `CODEOWNERS` file and cannot be edited. */
function assertOwn({ rule_type }: ApprovalRule): void {
  if (rule_type === 'code_owner') throw forbidden()
}

export async function changeMergeRequestRule(
  app: App,
  subject: MergeRequestSubject & { readonly rule: ApprovalRule },
  input: RuleInput,
): Promise<ApprovalRule> {
  assertRules(inputRules, input)
  assertOwn(subject.rule)
  return ofOpen(app, subject, async (app, locked) => {
    const approvers =
      subject.rule.approvals_required > 0 ? await approversIn(app, [subject.rule.id]) : new Set<number>()
    const changed = await change(app, subject, subject.rule, input)
    await ask(app, subject, locked, changed, approvers)
    return changed
  })
}

export async function removeMergeRequestRule(
  app: App,
  subject: MergeRequestSubject & { readonly rule: ApprovalRule },
): Promise<void> {
  assertOwn(subject.rule)
  await ofOpen(app, subject, (app) => remove(app, subject.rule))
}
