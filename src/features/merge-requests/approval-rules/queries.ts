import { sql } from 'kysely'
import { child } from '../../../api/endpoint.ts'
import { id } from '../../../api/wire.ts'
import type { User } from '../../../context.ts'
import { Master } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { pageOfQuery, type Cut, type Page } from '../../../store/pages.ts'
import { groupsOfUser, openVisibilities } from '../../access/authorizations/queries.ts'
import { withUsers } from '../../identity/users/queries.ts'
import { findProtection } from '../../repository/protected-branches/queries.ts'
import { isArchived } from '../../projects/projects/policy.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { approvable, eligibleApprovers } from '../approvals/queries.ts'
import { mergeRequestsPolicy } from '../merge-requests/policy.ts'
import { mergeRequests } from '../merge-requests/queries.ts'
import type { LoadedRule } from './entity.ts'
import type { ApprovalRule } from './model.ts'

/** A project, with the policy for approval rules. */
export const approvingProject = {
  ...mergeRequests,
  isReadOnly: isArchived,
  policy: {
    ...mergeRequestsPolicy,
    setApprovals: (s: RepositorySubject) => s.level >= Master && mergeRequestsPolicy.readMergeRequests(s),
  },
}

const ofProject = (db: Db, project: number) =>
  db.selectFrom('approval_rules').selectAll().where('project_id', '=', project).where('merge_request_id', 'is', null)

const ofMergeRequest = (db: Db, one: number) =>
  db.selectFrom('approval_rules').selectAll().where('merge_request_id', '=', one)

export const listProjectRules = (db: Db, project: number, page: Cut): Promise<Page<ApprovalRule>> =>
  pageOfQuery(ofProject(db, project).orderBy('id'), page)

export const listMergeRequestRules = (db: Db, one: number, page: Cut): Promise<Page<ApprovalRule>> =>
  pageOfQuery(ofMergeRequest(db, one).orderBy('id'), page)

export const findProjectRule = (db: Db, project: number, rule: number): Promise<ApprovalRule | undefined> =>
  ofProject(db, project).where('id', '=', rule).executeTakeFirst()

export const projectRule = child(approvingProject, {
  key: 'rule',
  params: { approval_rule_id: id },
  find: ({ db }, { project }, { approval_rule_id }) => findProjectRule(db, project.id, approval_rule_id),
})

export const mergeRequestRule = child(approvable, {
  key: 'rule',
  params: { approval_rule_id: id },
  find: ({ db }, { mergeRequest }, { approval_rule_id }) =>
    ofMergeRequest(db, mergeRequest.id).where('id', '=', approval_rule_id).executeTakeFirst(),
})

const usersNamed = hotQuery((db, p: { rules: string }) =>
  db
    .selectFrom('approval_rule_users')
    .selectAll()
    .where(inIdList(db, 'rule_id', p.rules))
    .orderBy('user_id'),
)

const groupsNamed = hotQuery((db, p: { rules: string; viewer: number }) =>
  db
    .selectFrom('approval_rule_groups as g')
    .innerJoin('namespaces', 'namespaces.id', 'g.group_id')
    .selectAll('namespaces')
    .select(['g.rule_id', sql<boolean>`namespaces.id in (${groupsOfUser(p.viewer)})`.as('known')])
    .where(inIdList(db, 'g.rule_id', p.rules))
    .orderBy('namespaces.id'),
)

const branchesNamed = hotQuery((db, p: { rules: string }) =>
  db
    .selectFrom('approval_rule_branches')
    .selectAll()
    .where(inIdList(db, 'rule_id', p.rules)),
)

/** Loads rules of one project as the viewer may see them, in a fixed number of queries. */
export async function loadRules(
  db: Db,
  viewer: User,
  project: number,
  rules: readonly ApprovalRule[],
): Promise<LoadedRule[]> {
  if (rules.length === 0) return []
  const ids = rules.map((rule) => rule.id)
  const list = idList(db, ids)
  const [named, groups, branches, protection, eligible] = await Promise.all([
    usersNamed(db, { rules: list }),
    groupsNamed(db, { rules: list, viewer: viewer.id }),
    branchesNamed(db, { rules: list }),
    findProtection(db, project, 'branch'),
    eligibleApprovers(db, ids),
  ])
  const people = await withUsers(
    db,
    [...named.map((one) => ({ ...one, isNamed: true })), ...eligible.map((one) => ({ ...one, isNamed: false }))],
    { user: 'user_id' },
  )
  const peopleBy = Map.groupBy(people, ({ rule_id }) => rule_id)
  const groupsBy = Map.groupBy(groups, ({ rule_id }) => rule_id)
  const branchesBy = Map.groupBy(branches, ({ rule_id }) => rule_id)
  const open = openVisibilities(viewer)
  return rules.map((rule) => {
    const some = peopleBy.get(rule.id) ?? []
    const all = groupsBy.get(rule.id) ?? []
    // A group in the bin stays part of the rule, for its return.
    const there = all.filter(({ deleting }) => !deleting)
    const seen = there.filter(({ known, visibility }) => viewer.admin || known || open.includes(visibility))
    const ofBranches = new Set((branchesBy.get(rule.id) ?? []).map(({ protected_branch_id }) => protected_branch_id))
    return {
      ...rule,
      users: some.filter(({ isNamed }) => isNamed).flatMap(({ user }) => user ?? []),
      eligible: some.filter(({ isNamed }) => !isNamed).flatMap(({ user }) => user ?? []),
      groups: seen,
      hasHidden: seen.length < all.length,
      branches: protection.filter(({ id }) => ofBranches.has(id)),
    }
  })
}
