/** Variables about merge requests for pipelines and their jobs. */
import type { Variable } from '../../../ci/config/variables.ts'
import type { App } from '../../../context.ts'
import { projectPaths } from '../../planning/items/load.ts'
import type { Pipeline } from './model.ts'
import { variablesFrom } from './predefined.ts'

/** The maximum number of listed merge requests. */
const MOST = 4

interface Branch {
  readonly project_id: number
  readonly ref: string
  readonly tag: boolean
}

/** `group/project!1,group/project!2`: the open merge requests from a branch, whatever their target. */
export async function openFrom({ db }: App, { project_id, ref, tag }: Branch): Promise<Variable[]> {
  if (tag || ref.startsWith('refs/')) return []
  const open = await db
    .selectFrom('merge_requests')
    .select(['project_id', 'iid'])
    .where('source_project_id', '=', project_id)
    .where('source_branch', '=', ref)
    .where('state', '=', 'opened')
    .orderBy('id')
    .limit(MOST)
    .execute()
  if (open.length === 0) return []
  const paths = await projectPaths(
    db,
    open.map((one) => one.project_id),
  )
  const names = open.map((one) => `${paths.get(one.project_id)}!${one.iid}`)
  return variablesFrom({ CI_OPEN_MERGE_REQUESTS: names.join(',') })
}

/** The state of the merge request when the pipeline was created. */
export const mergeRequestVariables = ({
  merge_request_variables: json,
}: Pick<Pipeline, 'merge_request_variables'>): Variable[] => JSON.parse(json ?? '[]') as Variable[]
