/** Pipelines of merge requests: branch pipelines and merge request pipelines. */
import type { Db } from '../../../store/database.ts'
import { idList, inIdList, inTextList, textList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import { lookup, nothing, type Lookup } from '../../../store/lookups.ts'
import type { Pipeline } from '../../ci/pipelines/model.ts'
import { ciPolicy } from '../../ci/pipelines/policy.ts'
import type { MergeRequest } from '../merge-requests/model.ts'
import { mergeRequestPolicy, type MergeRequestSubject } from '../merge-requests/policy.ts'
import { mergeRequest } from '../merge-requests/queries.ts'

/** A merge request, with the policy for its pipelines. */
export const builtMergeRequest = {
  ...mergeRequest,
  policy: {
    ...mergeRequest.policy,
    readPipelines: (s: MergeRequestSubject) => mergeRequestPolicy.readMergeRequest(s) && ciPolicy.readPipelines(s),
    run: (s: MergeRequestSubject) => mergeRequestPolicy.participate(s) && ciPolicy.readPipelines(s),
  },
}

/** Pipelines of the heads, and of their trial merges. */
const ofHeads = hotQuery((db, p: { projects: string; shas: string; requests: string }) =>
  db
    .selectFrom('pipelines')
    .selectAll()
    .where(inIdList(db, 'project_id', p.projects))
    .where(inTextList(db, 'sha', p.shas))
    .where('source', '!=', 'parent_pipeline')
    .unionAll(
      db
        .selectFrom('pipelines')
        .selectAll()
        .where(inIdList(db, 'merge_request_id', p.requests))
        .where(inTextList(db, 'source_sha', p.shas))
        .where('source', '!=', 'parent_pipeline'),
    )
    .orderBy('id'),
)

type Headed = Pick<MergeRequest, 'id' | 'project_id' | 'source_project_id' | 'source_branch' | 'head_sha'>

/** The newest pipeline of each head, by merge request id. A merge request pipeline goes before a branch pipeline. */
export const headPipelinesOf = async (db: Db, requests: readonly Headed[]): Promise<ReadonlyMap<number, Pipeline>> =>
  headPipelineLookup(db, requests).ask(db)

export function headPipelineLookup(db: Db, requests: readonly Headed[]): Lookup<ReadonlyMap<number, Pipeline>> {
  const shas = [...new Set(requests.flatMap(({ head_sha }) => head_sha ?? []))]
  if (shas.length === 0) return nothing(new Map<number, Pipeline>())
  const projects = requests.flatMap(({ project_id, source_project_id }) => [
    project_id,
    source_project_id ?? project_id,
  ])
  const values = {
    projects: idList(db, [...new Set(projects)]),
    shas: textList(db, shas),
    requests: idList(
      db,
      requests.map(({ id }) => id),
    ),
  }
  return lookup(ofHeads, values, (found) => {
    const bySha = Map.groupBy(found, ({ sha, source_sha }) => source_sha ?? sha)
    return new Map(
      requests.flatMap((one) => {
        const some = bySha.get(one.head_sha ?? '') ?? []
        const head =
          some.findLast(({ merge_request_id }) => merge_request_id === one.id) ?? some.findLast(isOfBranch(one))
        return head ? [[one.id, head] as const] : []
      }),
    )
  })
}

/** Both projects may have statuses for commits of a fork. */
const isOfBranch = (one: Headed) => (pipeline: Pipeline) =>
  !pipeline.tag &&
  pipeline.ref === one.source_branch &&
  pipeline.merge_request_id === null &&
  [one.source_project_id, one.project_id].includes(pipeline.project_id)

/** Merge request pipelines, and branch pipelines of commits that were its head. Newest first. */
export function pipelinesOf(db: Db, one: Headed) {
  const heads = db.selectFrom('merge_request_versions').select('head_sha').where('merge_request_id', '=', one.id)
  return db
    .selectFrom('pipelines')
    .selectAll()
    .where((eb) =>
      eb.or([
        eb('merge_request_id', '=', one.id),
        eb.and([
          eb('project_id', 'in', [one.source_project_id ?? one.project_id, one.project_id]),
          eb('ref', '=', one.source_branch),
          eb('tag', '=', false),
          eb('sha', 'in', heads as never),
        ]),
      ]),
    )
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
}
