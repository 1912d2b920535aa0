/** Computes the approvals of merge requests, for a whole page in a fixed number of queries. */
import { sql, type RawBuilder } from 'kysely'
import { Developer } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { askTogether, lookup, type Answers } from '../../../store/lookups.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { mergeRequest } from '../merge-requests/queries.ts'
import { judge, requiredBy, type Judgement, type RuleFacts } from './judging.ts'
import { approvalPolicy } from './policy.ts'

/** A merge request, with the policy for approvals. */
export const approvable = { ...mergeRequest, policy: { ...mergeRequest.policy, ...approvalPolicy } }

/** Whether the approver still has access. Approvals of a merged request stay valid. */
const HAS_ACCESS = sql<boolean>`(m.state = 'merged' or exists (select 1 from users h
  where h.id = a.user_id and h.state = 'active' and (h.admin or exists (select 1 from project_authorizations i
    where i.user_id = h.id and i.project_id = m.project_id and i.access_level >= ${sql.lit(Developer)}))))`

/** Authors and committers may have approved before the project forbade it, and others before they lost access. */
const COUNTS = sql<boolean>`${HAS_ACCESS} and (coalesce(s.merge_requests_author_approval, false) or m.author_id is null
    or a.user_id <> m.author_id)
  and (not coalesce(s.merge_requests_disable_committers_approval, false) or not exists (
    select 1 from merge_request_committers c where c.merge_request_id = m.id and c.user_id = a.user_id
    union all select 1 from merge_request_ownership w where w.merge_request_id = m.id and w.overflow))`

/** Only protected branches require code owners. */
const IS_BAR = sql<boolean>`(r.rule_type <> 'code_owner' or exists (select 1 from protected_branches b
  where b.project_id = r.project_id and b.code_owner_approval_required))`

const requestQuery = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_requests as m')
    .innerJoin('projects as p', 'p.id', 'm.project_id')
    .leftJoin('approval_settings as s', 's.project_id', 'm.project_id')
    .select([
      'm.id',
      'm.project_id',
      'm.target_branch',
      'm.approvals_before_merge as own',
      'p.approvals_before_merge as usual',
      's.disable_overriding_approvers_per_merge_request as fixed',
      sql<number>`(select count(*) from merge_request_approvals a where a.merge_request_id = m.id and ${COUNTS})`.as(
        'given',
      ),
      sql<boolean>`exists (select 1 from approval_rules r where r.project_id = m.project_id
        and (r.merge_request_id is null or r.merge_request_id = m.id) and ${IS_BAR})`.as('ruled'),
    ])
    .where(inIdList(db, 'm.id', p.ids)),
)

const counting = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_request_approvals as a')
    .innerJoin('merge_requests as m', 'm.id', 'a.merge_request_id')
    .leftJoin('approval_settings as s', 's.project_id', 'm.project_id')
    .select(['a.merge_request_id', 'a.user_id', 'a.created_at'])
    .where(inIdList(db, 'm.id', p.ids))
    .where(COUNTS)
    .orderBy('a.created_at')
    .orderBy('a.user_id'),
)

/** Approvals that count, oldest first. */
export async function countedApprovals(db: Db, ids: readonly number[]) {
  return counting(db, { ids: idList(db, ids) })
}

const rulesOf = hotQuery((db, p: { projects: string; ids: string; isAll: 1 | null }, given) =>
  db
    .selectFrom('approval_rules as r')
    .selectAll()
    .select(
      sql<boolean>`(exists (select 1 from approval_rule_users u where u.rule_id = r.id)
        or exists (select 1 from approval_rule_groups g where g.rule_id = r.id))`.as('named'),
    )
    .where(inIdList(db, 'project_id', p.projects))
    .where((eb) => eb.or([eb('merge_request_id', 'is', null), inIdList(db, 'merge_request_id', p.ids)]))
    .$if(!given('isAll'), (query) => query.where(IS_BAR))
    .orderBy('id'),
)

interface RulesOf {
  projects: string
  ids: string
}

/** Whether the rule of the column `rule_id` concerns one of these merge requests. */
const isRuleOf = (db: Db, rule: string, p: RulesOf) =>
  sql<boolean>`${sql.ref(rule)} in (select r.id from approval_rules r where ${inIdList(db, 'r.project_id', p.projects)}
    and (r.merge_request_id is null or ${inIdList(db, 'r.merge_request_id', p.ids)}))`

const branchesOf = hotQuery((db, p: RulesOf) =>
  db
    .selectFrom('approval_rule_branches')
    .selectAll()
    .where(isRuleOf(db, 'rule_id', p)),
)

/** Projects without rules need no protected branches. */
const protectionOf = hotQuery((db, p: { projects: string }) =>
  db
    .selectFrom('protected_branches as b')
    .select(['b.id', 'b.project_id', 'b.name', 'b.code_owner_approval_required'])
    .where(inIdList(db, 'b.project_id', p.projects))
    .where(sql<boolean>`exists (select 1 from approval_rules r where r.project_id = b.project_id)`),
)

/** Rules with the users they name, directly or as direct members of a group. A user may appear twice. */
const named = (
  isAmong: (rule: string) => RawBuilder<boolean>,
): RawBuilder<{ rule_id: number; user_id: number }> => sql`(
  select u.rule_id, u.user_id from approval_rule_users u where ${isAmong('u.rule_id')}
  union select g.rule_id, i.user_id from approval_rule_groups g join members i on i.group_id = g.group_id
    where ${isAmong('g.rule_id')} and i.user_id is not null)`

const approvedIn = hotQuery((db, p: RulesOf) =>
  db
    .selectFrom(named((rule) => isRuleOf(db, rule, p)).as('n'))
    .innerJoin('merge_request_approvals as a', 'a.user_id', 'n.user_id')
    .innerJoin('merge_requests as m', 'm.id', 'a.merge_request_id')
    .leftJoin('approval_settings as s', 's.project_id', 'm.project_id')
    .select(['n.rule_id', 'a.merge_request_id', 'a.user_id'])
    .where(inIdList(db, 'm.id', p.ids))
    .where(COUNTS)
    .orderBy('a.created_at')
    .orderBy('a.user_id'),
)

/** Of the users a rule names, those who may approve. */
const ELIGIBLE = sql<boolean>`u.state = 'active' and (u.admin or t.access_level >= ${sql.lit(Developer)})`

const ownersLeft = hotQuery((db, p: RulesOf) =>
  db
    .selectFrom(named((rule) => isRuleOf(db, rule, p)).as('a'))
    .innerJoin('approval_rules as r', 'r.id', 'a.rule_id')
    .innerJoin('merge_requests as m', 'm.id', 'r.merge_request_id')
    .innerJoin('users as u', 'u.id', 'a.user_id')
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.user_id', '=', 'u.id').onRef('t.project_id', '=', 'r.project_id'),
    )
    .leftJoin('approval_settings as s', 's.project_id', 'r.project_id')
    .select(['a.rule_id', sql<number>`count(*)`.as('total')])
    .where('r.rule_type', '=', 'code_owner')
    .where(ELIGIBLE)
    .where(COUNTS)
    .groupBy('a.rule_id'),
)

/** The maximum number of users shown per rule. */
const MOST_SHOWN = 100

const eligible = hotQuery((db, p: { rules: string }) =>
  db
    .selectFrom(
      sql<{ rule_id: number; user_id: number; rank: number }>`(
        select n.rule_id, n.user_id, row_number() over (partition by n.rule_id order by n.user_id) as rank
        from ${named((rule) => inIdList(db, rule, p.rules))} n join approval_rules r on r.id = n.rule_id join users u on u.id = n.user_id
        left join project_authorizations t on t.user_id = u.id and t.project_id = r.project_id
        where ${ELIGIBLE})`.as('e'),
    )
    .select(['rule_id', 'user_id'])
    .where('rank', '<=', MOST_SHOWN)
    .orderBy('rule_id')
    .orderBy('user_id'),
)

/** The users who may approve, by rule. */
export async function eligibleApprovers(db: Db, rules: readonly number[]) {
  return rules.length === 0 ? [] : eligible(db, { rules: idList(db, rules) })
}

/**
 * What the approvals of merge requests are judged by. `isAll`: also the rules that block nothing. Without rules,
 * counting is enough.
 */
export function approvalLookups(
  db: Db,
  requests: readonly Pick<MergeRequest, 'id' | 'project_id'>[],
  { isAll }: { isAll: 1 | null } = { isAll: null },
) {
  const ids = idList(
    db,
    requests.map(({ id }) => id),
  )
  const projects = idList(db, [...new Set(requests.map(({ project_id }) => project_id))])
  return {
    requests: lookup(requestQuery, { ids }, (rows) => rows),
    rules: lookup(rulesOf, { projects, ids, isAll }, (rows) => rows),
    protection: lookup(protectionOf, { projects }, (rows) => Map.groupBy(rows, ({ project_id }) => project_id)),
    given: lookup(counting, { ids }, (rows) => Map.groupBy(rows, ({ merge_request_id }) => merge_request_id)),
    branches: lookup(branchesOf, { projects, ids }, (rows) => Map.groupBy(rows, ({ rule_id }) => rule_id)),
    approved: lookup(approvedIn, { projects, ids }, (rows) =>
      Map.groupBy(rows, ({ rule_id, merge_request_id }) => `${rule_id} ${merge_request_id}`),
    ),
    ownersLeft: lookup(
      ownersLeft,
      { projects, ids },
      (rows) => new Map(rows.map(({ rule_id, total }) => [rule_id, Number(total)])),
    ),
  }
}

export type FoundApprovals = Answers<ReturnType<typeof approvalLookups>>

/** Judges each rule, including rules that block nothing, by merge request id. */
export async function judgementsOf(
  db: Db,
  requests: readonly Pick<MergeRequest, 'id' | 'project_id'>[],
): Promise<Map<number, Judgement>> {
  const found = await askTogether(db, approvalLookups(db, requests, { isAll: 1 }))
  const rulesBy = ruleGroups(found)
  return new Map(found.requests.map((one) => [one.id, judged(found, rulesBy, one)]))
}

const ruleGroups = ({ rules }: FoundApprovals) =>
  Map.groupBy(rules, ({ project_id, merge_request_id }) => merge_request_id ?? `project ${project_id}`)

function judged(
  { branches, approved, ownersLeft, given, protection }: FoundApprovals,
  rulesBy: ReturnType<typeof ruleGroups>,
  one: FoundApprovals['requests'][number],
): Judgement {
  const own = [...(rulesBy.get(`project ${one.project_id}`) ?? []), ...(rulesBy.get(one.id) ?? [])]
  const facts = own.map((rule): RuleFacts => ({
    ...rule,
    named: Boolean(rule.named),
    branches: (branches.get(rule.id) ?? []).map(({ protected_branch_id }) => protected_branch_id),
    approvers: (approved.get(`${rule.id} ${one.id}`) ?? []).map(({ user_id }) => user_id),
    eligible: ownersLeft.get(rule.id) ?? 0,
  }))
  return judge({
    target_branch: one.target_branch,
    usual: one.usual,
    own: one.fixed ? null : one.own,
    approvers: (given.get(one.id) ?? []).map(({ user_id }) => user_id),
    rules: facts,
    protection: protection.get(one.project_id) ?? [],
  })
}

/** How many approvals each merge request requires and how many it lacks. */
export function approvalsFrom(found: FoundApprovals): Map<number, { required: number; left: number }> {
  const rulesBy = ruleGroups(found)
  return new Map(
    found.requests.map((one) => {
      if (one.ruled) return [one.id, judged(found, rulesBy, one)]
      const required = requiredBy(one.usual, one.fixed ? null : one.own)
      return [one.id, { required, left: Math.max(0, required - Number(one.given)) }]
    }),
  )
}

export const approvalsOf = async (db: Db, requests: readonly Pick<MergeRequest, 'id' | 'project_id'>[]) =>
  approvalsFrom(await askTogether(db, approvalLookups(db, requests)))

const committed = hotQuery((db, p: { id: number; user: number }) =>
  db
    .selectFrom('merge_requests as m')
    .select('m.id')
    .where('m.id', '=', p.id)
    .where(
      sql<boolean>`(exists (select 1 from merge_request_committers c
          where c.merge_request_id = m.id and c.user_id = ${p.user})
        or exists (select 1 from merge_request_ownership w where w.merge_request_id = m.id and w.overflow))`,
    ),
)

export const isCommitterOf = async (db: Db, id: number, user: number): Promise<boolean> =>
  (await committed(db, { id, user })).length > 0
