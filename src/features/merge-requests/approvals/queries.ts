/** Computes the approvals of merge requests, for a whole page in a fixed number of queries. */
import { sql, type RawBuilder } from 'kysely'
import { Developer } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
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

const branchesOf = hotQuery((db, p: { rules: string }) =>
  db
    .selectFrom('approval_rule_branches')
    .selectAll()
    .where(inIdList(db, 'rule_id', p.rules)),
)

const protectionOf = hotQuery((db, p: { projects: string }) =>
  db
    .selectFrom('protected_branches')
    .select(['id', 'project_id', 'name', 'code_owner_approval_required'])
    .where(inIdList(db, 'project_id', p.projects)),
)

/** Rules with the users they name, directly or as direct members of a group. A user may appear twice. */
const named = (db: Db, rules: string): RawBuilder<{ rule_id: number; user_id: number }> => sql`(
  select u.rule_id, u.user_id from approval_rule_users u where ${inIdList(db, 'u.rule_id', rules)}
  union select g.rule_id, i.user_id from approval_rule_groups g join members i on i.group_id = g.group_id
    where ${inIdList(db, 'g.rule_id', rules)} and i.user_id is not null)`

const approvedIn = hotQuery((db, p: { rules: string; ids: string }) =>
  db
    .selectFrom(named(db, p.rules).as('n'))
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

const ownersLeft = hotQuery((db, p: { rules: string }) =>
  db
    .selectFrom(named(db, p.rules).as('a'))
    .innerJoin('approval_rules as r', 'r.id', 'a.rule_id')
    .innerJoin('merge_requests as m', 'm.id', 'r.merge_request_id')
    .innerJoin('users as u', 'u.id', 'a.user_id')
    .leftJoin('project_authorizations as t', (join) =>
      join.onRef('t.user_id', '=', 'u.id').onRef('t.project_id', '=', 'r.project_id'),
    )
    .leftJoin('approval_settings as s', 's.project_id', 'r.project_id')
    .select(['a.rule_id', sql<number>`count(*)`.as('total')])
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
        from ${named(db, p.rules)} n join approval_rules r on r.id = n.rule_id join users u on u.id = n.user_id
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

type RequestContext = Awaited<ReturnType<typeof requestQuery>>[number]

/** Judges each rule, including rules that block nothing, by merge request id. */
export async function judgementsOf(db: Db, requests: readonly Pick<MergeRequest, 'id'>[]) {
  return judged(db, await requestRows(db, requests), { isAll: 1 })
}

const requestRows = async (db: Db, requests: readonly Pick<MergeRequest, 'id'>[]) =>
  requestQuery(db, {
    ids: idList(
      db,
      requests.map(({ id }) => id),
    ),
  })

async function judged(
  db: Db,
  rows: readonly RequestContext[],
  { isAll }: { isAll: 1 | null },
): Promise<Map<number, Judgement>> {
  if (rows.length === 0) return new Map()
  const ids = idList(
    db,
    rows.map(({ id }) => id),
  )
  const projects = idList(db, [...new Set(rows.map(({ project_id }) => project_id))])
  const [rules, protection, given] = await Promise.all([
    rulesOf(db, { projects, ids, isAll }),
    protectionOf(db, { projects }),
    counting(db, { ids }),
  ])
  const list = idList(
    db,
    rules.map(({ id }) => id),
  )
  const owners = rules.filter(({ rule_type }) => rule_type === 'code_owner').map(({ id }) => id)
  const [branches, approved, left] = await Promise.all([
    branchesOf(db, { rules: list }),
    approvedIn(db, { rules: list, ids }),
    owners.length === 0 ? [] : ownersLeft(db, { rules: idList(db, owners) }),
  ])
  const branchesBy = Map.groupBy(branches, ({ rule_id }) => rule_id)
  const approvedBy = Map.groupBy(approved, ({ rule_id, merge_request_id }) => `${rule_id} ${merge_request_id}`)
  const leftBy = new Map(left.map(({ rule_id, total }) => [rule_id, Number(total)]))
  const givenBy = Map.groupBy(given, ({ merge_request_id }) => merge_request_id)
  const protectionBy = Map.groupBy(protection, ({ project_id }) => project_id)
  const rulesBy = Map.groupBy(rules, ({ project_id, merge_request_id }) => merge_request_id ?? `project ${project_id}`)
  return new Map(
    rows.map((one) => {
      const own = [...(rulesBy.get(`project ${one.project_id}`) ?? []), ...(rulesBy.get(one.id) ?? [])]
      const facts = own.map((rule): RuleFacts => ({
        ...rule,
        named: Boolean(rule.named),
        branches: (branchesBy.get(rule.id) ?? []).map(({ protected_branch_id }) => protected_branch_id),
        approvers: (approvedBy.get(`${rule.id} ${one.id}`) ?? []).map(({ user_id }) => user_id),
        eligible: leftBy.get(rule.id) ?? 0,
      }))
      const judgement = judge({
        target_branch: one.target_branch,
        usual: one.usual,
        own: one.fixed ? null : one.own,
        approvers: (givenBy.get(one.id) ?? []).map(({ user_id }) => user_id),
        rules: facts,
        protection: protectionBy.get(one.project_id) ?? [],
      })
      return [one.id, judgement]
    }),
  )
}

/** How many approvals each merge request requires and how many it lacks. Without rules, counting is enough. */
export async function approvalsOf(
  db: Db,
  requests: readonly MergeRequest[],
): Promise<Map<number, { required: number; left: number }>> {
  const rows = await requestRows(db, requests)
  const ruled = await judged(
    db,
    rows.filter((row) => row.ruled),
    { isAll: null },
  )
  return new Map(
    rows.map(({ id, own, usual, fixed, given }) => {
      const required = requiredBy(usual, fixed ? null : own)
      return [id, ruled.get(id) ?? { required, left: Math.max(0, required - Number(given)) }]
    }),
  )
}

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
