import type { App, User } from '../../../context.ts'
import { surroundings, withUsers } from '../../identity/users/queries.ts'
import { presentRuleState, type LoadedRule } from '../approval-rules/entity.ts'
import { loadRules } from '../approval-rules/queries.ts'
import { findApprovalSettings } from '../approval-settings/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import type { MergeRequestSubject } from '../merge-requests/policy.ts'
import { freshlyChecked } from '../mergeability/check.ts'
import { mergeFacts } from '../mergeability/facts.ts'
import { presentApprovals } from './entity.ts'
import type { Judgement } from './judging.ts'
import { canApprove } from './policy.ts'
import { countedApprovals, isCommitterOf, judgementsOf } from './queries.ts'

const NO_JUDGEMENT: Judgement = { required: 0, left: 0, rules: [] }

/** The judgement of a merge request, with the users of each rule. */
async function judgementOf({ db }: App, viewer: User, one: MergeRequest) {
  const judgement = (await judgementsOf(db, [one])).get(one.id) ?? NO_JUDGEMENT
  const rules = judgement.rules.flatMap(({ rule }) => rule ?? [])
  const loaded = new Map((await loadRules(db, viewer, one.project_id, rules)).map((rule) => [rule.id, rule]))
  return { judgement, loaded }
}

/** The approval status for one viewer. */
export async function presentApprovalStatus(
  app: App,
  viewer: User,
  subject: MergeRequestSubject,
  row: MergeRequest = subject.mergeRequest,
) {
  const { db } = app
  const one = await freshlyChecked(app, row, subject.project)
  const [around, facts, settings, given, isCommitter, { judgement, loaded }] = await Promise.all([
    surroundings(app),
    mergeFacts(db, [one]),
    findApprovalSettings(db, one.project_id),
    countedApprovals(db, [one.id]),
    isCommitterOf(db, one.id, viewer.id),
    judgementOf(app, viewer, one),
  ])
  const approvals = await withUsers(db, given, { user: 'user_id' })
  const hasApproved = given.some(({ user_id }) => user_id === viewer.id)
  const left = judgement.rules.filter((rule) => rule.left > 0)
  const rules = [...loaded.values()]
  const suggested = left.flatMap(({ rule, approvers }) =>
    (rule ? (loaded.get(rule.id)?.eligible ?? []) : []).filter(
      ({ id }) => !approvers.includes(id) && id !== one.author_id,
    ),
  )
  const current = { ...subject, mergeRequest: { ...subject.mergeRequest, ...one } }
  return presentApprovals(
    {
      one,
      facts: facts.get(one.id)!,
      settings,
      approvals,
      rulesLeft: left.map(({ rule }) => rule ?? { id: null, name: 'All Members', rule_type: 'any_approver' }),
      invalid: left.flatMap(({ rule, required }) => {
        const people = rule && loaded.get(rule.id)
        return people && rule.named && people.eligible.length < required ? [people] : []
      }),
      suggested: distinct(suggested),
      approvers: distinct(rules.flatMap(({ users }) => users)),
      groups: distinct(rules.flatMap(({ groups }) => groups)),
      hasRules: rules.length > 0,
      hasApproved,
      canApprove: canApprove(current, settings, { isCommitter, hasApproved }),
    },
    around,
  )
}

const distinct = <T extends { readonly id: number }>(some: readonly T[]): T[] => [
  ...new Map(some.map((one) => [one.id, one])).values(),
]

/** The state of each rule. */
export async function presentApprovalState(app: App, viewer: User, one: MergeRequest) {
  const [around, { judgement, loaded }] = await Promise.all([surroundings(app), judgementOf(app, viewer, one)])
  const given = judgement.rules.flatMap(({ approvers }, index) => approvers.map((user_id) => ({ index, user_id })))
  const people = Map.groupBy(await withUsers(app.db, given, { user: 'user_id' }), ({ index }) => index)
  const rules = judgement.rules.map(({ rule, required, left }, index) => {
    const approvers = (people.get(index) ?? []).map(({ user }) => user)
    const own: LoadedRule | null = rule ? loaded.get(rule.id)! : null
    return presentRuleState(own, { required, left, approvers }, around)
  })
  // A merge request cannot overwrite the rules of its project.
  return { approval_rules_overwritten: false, rules }
}
