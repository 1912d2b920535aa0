/** List conditions on approvals, rules and deployments. */
import { sql, type RawBuilder } from 'kysely'
import type { User } from '../../../context.ts'
import { FeatureDisabled, Reporter } from '../../../lib/levels.ts'
import type { Db } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import type { At, Condition } from '../../../store/lists.ts'
import {
  either,
  hasAny,
  ofItsProject,
  seenBy,
  type NoneOrAny,
  type PlannedValues,
} from '../../planning/items/conditions.ts'
import type { Deployed } from './filter.ts'
import { mergeRequestKind } from './kind.ts'

export interface ReviewValues extends PlannedValues {
  /** A list of ids, and its length. */
  approvers?: string
  approver_total?: number
  approved?: boolean
  /** The same for users whom rules name. `one_named` is the id that starts the query. */
  named?: string
  named_total?: number
  one_named?: number
  has_named?: boolean
  deployed?: true
  deployed_to?: string
  deployed_after?: string
  deployed_before?: string
  /** Only Reporters see deployments. Absent for administrators. */
  deployed_for?: number
}

type Conditions = { [name in keyof ReviewValues]?: Condition<ReviewValues> }

const approvals = (w: ReviewValues, db: Db) =>
  sql`from merge_request_approvals a where ${inIdList(db, 'a.user_id', w.approvers!)}`

/** Users whom rules of the merge request or of its project name. */
const namedBy = (request: string) => sql`from approval_rules r join approval_rule_users n on n.rule_id = r.id
  where r.project_id = ${sql.ref(`${request}.project_id`)}
    and (r.merge_request_id is null or r.merge_request_id = ${sql.ref(`${request}.id`)})`

const areNamed = (w: ReviewValues, db: Db, request: string) =>
  sql<boolean>`(select count(distinct n.user_id) ${namedBy(request)} and ${inIdList(db, 'n.user_id', w.named!)})
    = ${w.named_total}`

const rulesNaming = (w: ReviewValues) =>
  sql`from approval_rule_users n join approval_rules r on r.id = n.rule_id where n.user_id = ${w.one_named}`

const inItsProject = ofItsProject(mergeRequestKind)

/** The deployment links that match the filter. */
function deployments(w: ReviewValues, { given }: Pick<At<ReviewValues>, 'given'>): RawBuilder<unknown> {
  const environment = [
    ...(given('deployed_to') ? [sql`e.name = ${w.deployed_to}`] : []),
    ...(given('project') ? [sql`e.project_id = ${w.project}`] : []),
  ]
  const tests = [
    ...(environment.length === 0
      ? []
      : [sql`d.environment_id in (select e.id from environments e where ${sql.join(environment, sql` and `)})`]),
    ...(given('deployed_after') ? [sql`d.deployed_at > ${w.deployed_after}`] : []),
    ...(given('deployed_before') ? [sql`d.deployed_at < ${w.deployed_before}`] : []),
  ]
  return sql`from deployment_merge_requests d where ${sql.join(tests, sql` and `)}`
}

const isReporter = (w: ReviewValues) => sql`exists (select 1 from project_authorizations t
  where t.project_id = p.id and t.user_id = ${w.deployed_for} and t.access_level >= ${sql.lit(Reporter)})`

export const reviewConditions: Conditions = {
  approvers: {
    test: (w, { db }) => sql`(select count(*) ${approvals(w, db)} and a.merge_request_id = merge_requests.id)
      = ${w.approver_total}`,
    set: (w, { db }) => sql`select a.merge_request_id ${approvals(w, db)}
      group by a.merge_request_id having count(*) = ${w.approver_total}`,
  },
  named: {
    test: (w, { db }) => areNamed(w, db, 'merge_requests'),
    set: (w, { db }) => sql`select m.id from (
        select o.id from merge_requests o
          where o.project_id in (select r.project_id ${rulesNaming(w)} and r.merge_request_id is null)
        union select r.merge_request_id ${rulesNaming(w)} and r.merge_request_id is not null) c
      join merge_requests m on m.id = c.id where ${areNamed(w, db, 'm')}`,
    counted: ['approval_rule_users'],
  },
  deployed: {
    test: (w, at) => hasAny(sql`${deployments(w, at)} and d.merge_request_id = merge_requests.id`),
    set: (w, at) => sql`select d.merge_request_id ${deployments(w, at)}`,
    scoped: ['environments'],
  },
  deployed_for: {
    test: (w) => inItsProject(sql`p.builds_access_level > ${sql.lit(FeatureDisabled)} and ${isReporter(w)}`),
    counted: ['project_authorizations', 'project_builds'],
  },
  approved: {
    test: (w) =>
      either(w.approved, hasAny(sql`from merge_request_approvals a where a.merge_request_id = merge_requests.id`)),
  },
  has_named: {
    test: (w) => either(w.has_named, hasAny(namedBy('merge_requests'))),
    counted: ['approval_rule_users'],
  },
}

export interface ReviewFilter {
  approvers?: NoneOrAny<number[]> | null | undefined
  approved?: boolean | undefined
  named?: NoneOrAny<number[]> | null | undefined
  deployed?: Deployed | null | undefined
}

const isWord = (some: NoneOrAny<number[]>) => some === 'none' || some === 'any'

/** Null if two conditions contradict each other. */
export function reviewFilter(db: Db, viewer: User | null, filter: ReviewFilter) {
  const { approvers, approved, named, deployed } = filter
  const isApproved = approvers && isWord(approvers) ? approvers === 'any' : undefined
  if (approved !== undefined && isApproved !== undefined && approved !== isApproved) return null
  return {
    ...((approved ?? isApproved) !== undefined && { approved: approved ?? isApproved! }),
    ...(approvers && !isWord(approvers) && approverFilter(db, approvers)),
    ...(named && (isWord(named) ? { has_named: named === 'any' } : assignedFilter(db, named))),
    ...(deployed && deploymentFilter(viewer, deployed)),
  }
}

function approverFilter(db: Db, approvers: readonly number[]): ReviewValues & { approver?: number } {
  const ids = [...new Set(approvers)]
  if (ids.length === 1) return { approver: ids[0]! }
  return ids.length === 0 ? {} : { approvers: idList(db, ids), approver_total: ids.length }
}

function assignedFilter(db: Db, named: readonly number[]): ReviewValues {
  const ids = [...new Set(named)]
  return ids.length === 0 ? {} : { named: idList(db, ids), named_total: ids.length, one_named: ids[0]! }
}

function deploymentFilter(viewer: User | null, { to, after, before }: Deployed): ReviewValues {
  const { seen_by } = seenBy(viewer)
  return {
    deployed: true,
    ...(to !== undefined && { deployed_to: to }),
    ...(after !== undefined && { deployed_after: after }),
    ...(before !== undefined && { deployed_before: before }),
    ...(seen_by !== undefined && { deployed_for: seen_by }),
  }
}
