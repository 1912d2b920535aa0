/** Loads the facts that merge checks need, for a whole page in a fixed number of queries. */
import { sql } from 'kysely'
import type { Db, Row } from '../../../store/database.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { askTogether, lookup, type Answers } from '../../../store/lookups.ts'
import { approvalLookups, approvalsFrom } from '../approvals/queries.ts'
import { headPipelineLookup } from '../pipelines/queries.ts'
import { blockerLookup } from '../dependencies/queries.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { targetLookup } from '../merge-requests/queries.ts'
import type { MergeFacts } from './gates.ts'

const unresolved = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('notes')
    .select(['merge_request_id', sql<number>`count(distinct discussion_id)`.as('total')])
    .where(inIdList(db, 'merge_request_id', p.ids))
    .where('type', 'is not', null)
    .where('system', '=', false)
    .where('resolved_at', 'is', null)
    .groupBy('merge_request_id'),
)

const changesRequested = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('merge_request_reviewers')
    .select(['merge_request_id', sql<number>`count(*)`.as('total')])
    .where(inIdList(db, 'merge_request_id', p.ids))
    .where('state', '=', 'requested_changes')
    .groupBy('merge_request_id'),
)

const rules = hotQuery((db, p: { ids: string }) =>
  db
    .selectFrom('projects')
    .select([
      'id',
      'merge_method',
      'squash_option',
      'approvals_before_merge',
      'only_allow_merge_if_pipeline_succeeds',
      'only_allow_merge_if_all_discussions_are_resolved',
    ])
    .where(inIdList(db, 'id', p.ids)),
)

const totals = (rows: readonly { merge_request_id: number | null; total: number }[]) =>
  new Map(rows.map(({ merge_request_id, total }) => [merge_request_id, Number(total)]))

/** What merge checks need to know of these merge requests. */
export function factLookups(db: Db, requests: readonly MergeRequest[]) {
  const ids = requests.map(({ id }) => id)
  const list = idList(db, ids)
  const projects = idList(db, [...new Set(requests.map(({ project_id }) => project_id))])
  return {
    targets: targetLookup(db, ids),
    threads: lookup(unresolved, { ids: list }, totals),
    wishes: lookup(changesRequested, { ids: list }, totals),
    pipelines: headPipelineLookup(db, requests),
    projects: lookup(rules, { ids: projects }, (rows) => rows),
    blockers: blockerLookup(db, ids),
    ...approvalLookups(db, requests),
  }
}

type FoundFacts = Answers<ReturnType<typeof factLookups>>

/** By merge request id. */
export async function mergeFacts(db: Db, requests: readonly MergeRequest[]): Promise<Map<number, MergeFacts>> {
  if (requests.length === 0) return new Map()
  return factsFrom(requests, await askTogether(db, factLookups(db, requests)))
}

export function factsFrom(requests: readonly MergeRequest[], found: FoundFacts): Map<number, MergeFacts> {
  const { targets, threads, wishes, pipelines, projects, blockers } = found
  const approvals = approvalsFrom(found)
  const byId = new Map(projects.map((project) => [project.id, project]))
  return new Map(
    requests.map((one) => {
      const project = byId.get(one.project_id)
      const target = targets.get(one.id) ?? null
      const check = checkOf(one, target)
      const facts: MergeFacts = {
        state: one.state,
        draft: one.draft,
        check,
        conflicts: check === 'conflict' ? (JSON.parse(one.check_conflicts ?? '[]') as string[]) : [],
        needsRebase: check === 'mergeable' && needsRebase(project, one, target),
        discussions: {
          required: project?.only_allow_merge_if_all_discussions_are_resolved ?? false,
          unresolved: threads.get(one.id) ?? 0,
        },
        approvals: approvals.get(one.id) ?? { required: 0, left: 0 },
        pipeline: {
          required: project?.only_allow_merge_if_pipeline_succeeds ?? false,
          status: pipelines.get(one.id)?.status ?? null,
        },
        blockedBy: blockers.get(one.id) ?? 0,
        changesRequested: wishes.get(one.id) ?? 0,
      }
      return [one.id, facts]
    }),
  )
}

/** The stored check is valid only for its pair of commits. Closed and merged requests keep their last result. */
function checkOf(one: MergeRequest, target: string | null): MergeFacts['check'] {
  const isOver = one.state === 'merged' || one.state === 'closed'
  const isFresh = one.check_head === one.head_sha && one.check_target === target
  return isFresh || isOver ? one.check_result : null
}

/** The setting of the project overrides the choice of the merge request. */
export const squashes = (option: string, requested: boolean): boolean =>
  option === 'always' ? true : option === 'never' ? false : requested

/**
 * Fast-forward and semi-linear history require the source on top of the target's tip. A squash with fast-forward needs
 * no rebase.
 */
function needsRebase(
  project: Pick<Row<'projects'>, 'merge_method' | 'squash_option'> | undefined,
  { base_sha, squash }: MergeRequest,
  target: string | null,
): boolean {
  if (!project || project.merge_method === 'merge') return false
  return base_sha !== target && !(project.merge_method === 'ff' && squashes(project.squash_option, squash))
}
