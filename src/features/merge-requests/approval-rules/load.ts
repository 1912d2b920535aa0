import type { App, User } from '../../../context.ts'
import { surroundings } from '../../identity/users/queries.ts'
import { presentMergeRequestRule, presentProjectRule } from './entity.ts'
import type { ApprovalRule } from './model.ts'
import { loadRules } from './queries.ts'

export async function presentProjectRules(app: App, viewer: User, project: number, rules: readonly ApprovalRule[]) {
  const around = await surroundings(app)
  return (await loadRules(app.db, viewer, project, rules)).map((rule) => presentProjectRule(rule, around))
}

export async function presentMergeRequestRules(
  app: App,
  viewer: User,
  project: number,
  rules: readonly ApprovalRule[],
) {
  const around = await surroundings(app)
  return (await loadRules(app.db, viewer, project, rules)).map((rule) => presentMergeRequestRule(rule, around))
}
