import { finder } from '../../../lib/patterns.ts'
import { matches } from '../../repository/protected-branches/matching.ts'
import type { Hook } from './model.ts'

/** `*` stands for anything; a pattern is looked for anywhere. */
export async function isRefMatch(hook: Hook, branch: string): Promise<boolean> {
  const { push_events_branch_filter: filter, branch_filter_strategy: strategy } = hook
  if (filter === '' || strategy === 'all_branches') return true
  return strategy === 'regex' ? (await finder(filter, [branch]))(branch) : matches(filter, branch)
}
