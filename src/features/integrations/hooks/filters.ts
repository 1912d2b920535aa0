import type { LimitedCaller } from '../../../lib/async/limiter.ts'
import { finder, projectCaller } from '../../../lib/text/patterns.ts'
import { matches } from '../../repository/protected-branches/matching.ts'
import type { Hook } from './model.ts'

/** A slow filter makes only other hooks of the same owner wait. */
const ownerOf = ({ project_id, group_id, id }: Hook): LimitedCaller =>
  project_id === null ? { key: `hook ${group_id ?? id}`, isAnonymous: false } : projectCaller(project_id)

/** With wildcards, `*` matches anything. A regular expression may match anywhere in the name. */
export async function isRefMatch(hook: Hook, branch: string): Promise<boolean> {
  const { push_events_branch_filter: filter, branch_filter_strategy: strategy } = hook
  if (filter === '' || strategy === 'all_branches') return true
  return strategy === 'regex'
    ? (await finder(filter, [branch], { caller: ownerOf(hook) }))(branch)
    : matches(filter, branch)
}
