import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { invalid } from '../../../errors.ts'
import { pageOfQuery } from '../../../store/pages.ts'
import { ListedPipelineEntity, PipelineEntity, presentListedPipeline } from '../../ci/pipelines/entity.ts'
import { presentOnePipeline } from '../../ci/pipelines/queries.ts'
import { projectPaths } from '../../planning/items/load.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { builtMergeRequest, pipelinesOf } from './queries.ts'
import { runMergeRequest } from './service.ts'

const PATH = '/projects/:id/merge_requests/:merge_request_iid/pipelines'

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the pipelines of a merge request',
  on: builtMergeRequest,
  allow: 'readPipelines',
  output: pageOf(ListedPipelineEntity),
  async handle({ app, subject, page }) {
    const { items, total } = await pageOfQuery(pipelinesOf(app.db, subject.mergeRequest), page)
    const paths = await projectPaths(
      app.db,
      items.map(({ project_id }) => project_id),
    )
    const url = (project: number) => `${app.url}/${paths.get(project) ?? ''}`
    return { total, items: items.map((one) => presentListedPipeline(one, { url: url(one.project_id) })) }
  },
})

export const create = endpoint({
  method: 'POST',
  path: PATH,
  summary: 'Create a pipeline for a merge request',
  on: builtMergeRequest,
  allow: 'run',
  alsoAsks: ['run pipelines on the source branch'],
  output: PipelineEntity,
  async handle({ app, viewer, subject }) {
    const { pipeline, errors } = await runMergeRequest(app, viewer, subject.mergeRequest)
    if (!pipeline) throw invalid({ base: [...errors] })
    const project =
      pipeline.project_id === subject.project.id ? null : await findProjectById(app.db, pipeline.project_id)
    const location = project ? await loadRepositorySubject(app, project, viewer) : subject
    return presentOnePipeline(app, location, pipeline)
  },
})
