/** Stacks of merge requests: one whose target is the source branch of another is its child. */
import { hotQuery } from '../../../store/hot.ts'
import { lookup, type Lookup } from '../../../store/lookups.ts'
import type { MergeRequest } from './model.ts'

export interface StackedOn {
  readonly iid: number
  readonly title: string
  readonly source_branch: string
  readonly target_branch: string
}

export interface Stack {
  readonly parent: StackedOn | null
  readonly children: readonly StackedOn[]
}

/** Further children are not shown. */
const MOST_CHILDREN = 100

const parents = hotQuery((db, p: { project: number; branch: string }) =>
  db
    .selectFrom('merge_requests')
    .select(['iid', 'title', 'source_branch', 'target_branch'])
    .where('source_project_id', '=', p.project)
    .where('source_branch', '=', p.branch)
    .where('state', 'in', ['opened', 'locked'])
    .where('project_id', '=', p.project)
    .orderBy('id')
    .limit(1),
)

const children = hotQuery((db, p: { project: number; branch: string }) =>
  db
    .selectFrom('merge_requests')
    .select(['iid', 'title', 'source_branch', 'target_branch'])
    .where('project_id', '=', p.project)
    .where('target_branch', '=', p.branch)
    .where('state', 'in', ['opened', 'locked'])
    .orderBy('id')
    .limit(MOST_CHILDREN),
)

type State = Pick<MergeRequest, 'project_id' | 'source_project_id' | 'source_branch' | 'target_branch'>

/** Only open merge requests of the same project. One from a fork has no children. */
export function stackLookups(one: State): {
  readonly parent: Lookup<Stack['parent']>
  readonly children: Lookup<Stack['children']>
} {
  const isOwn = one.source_project_id === one.project_id
  const below = { project: one.project_id, branch: one.target_branch }
  const above = isOwn ? { project: one.project_id, branch: one.source_branch } : null
  return {
    parent: lookup(parents, below, ([parent]) => parent ?? null),
    children: lookup(children, above, (rows) => rows),
  }
}
