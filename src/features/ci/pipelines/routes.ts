import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { arrayOf, blankable, bool, filledText, longText, moment, oneOf, text } from '../../../api/wire.ts'
import { forbidden } from '../../../errors.ts'
import { listBranches, listTags } from '../../../git/refs/refs.ts'
import { findUserByUsername } from '../../identity/users/queries.ts'
import { JOB_STATUSES } from '../jobs/model.ts'
import { ListedPipelineEntity, PipelineEntity, PipelineVariableEntity } from './entity.ts'
import { PIPELINE_ORDERS, listPipelines } from './lists.ts'
import { PIPELINE_SOURCES } from './model.ts'
import { ciProject, latestOf, pipeline, presentListedPipelines, presentOnePipeline, variableRows } from './queries.ts'
import { deletePipeline, renamePipeline, retryPipeline, startPipeline, stopPipeline } from './service.ts'
import { TestReportEntity, TestSummaryEntity } from './reports/entity.ts'
import { summaryOf, testReportOf } from './reports/queries.ts'

const PATH = '/projects/:id/pipelines'
const ITEM = `${PATH}/:pipeline_id` as const

const SCOPES = {
  running: ['running'],
  pending: ['pending'],
  finished: ['success', 'failed', 'canceled'],
} as const

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the pipelines of a project',
  on: ciProject,
  allow: 'readPipelines',
  by: 'visitor',
  input: z.object({
    scope: oneOf('running', 'pending', 'finished', 'branches', 'tags').nullish(),
    status: oneOf(...JOB_STATUSES).nullish(),
    ref: text.nullish(),
    sha: text.nullish(),
    source: oneOf(...PIPELINE_SOURCES).nullish(),
    name: text.nullish(),
    username: text.nullish(),
    yaml_errors: bool.nullish(),
    updated_before: blankable(moment),
    updated_after: blankable(moment),
    created_before: blankable(moment),
    created_after: blankable(moment),
    order_by: oneOf(...PIPELINE_ORDERS).nullish(),
    sort: oneOf('asc', 'desc').nullish(),
  }),
  output: pageOf(ListedPipelineEntity),
  async handle({ app, subject, input, page }) {
    const { scope, status, username, ...filter } = input
    const user = username ? await findUserByUsername(app.db, username) : undefined
    if (user === null) return { total: 0, items: [] }
    const isOfRefs = scope === 'branches' || scope === 'tags'
    const refs = isOfRefs ? await (scope === 'tags' ? listTags : listBranches)(subject.dir) : null
    const names = refs?.items.map(({ name }) => name)
    const statuses = status ? [status] : scope && !isOfRefs ? SCOPES[scope] : undefined
    const { items, total } = await listPipelines(
      app,
      subject.project.id,
      { ...filter, statuses, ...(scope === 'tags' ? { tags: names } : { branches: names }), user: user?.id },
      page,
    )
    return { total, items: presentListedPipelines(app, subject, items) }
  },
})

const variable = z.object({
  key: filledText.refine((key) => /^\w{1,255}$/.test(key)),
  value: longText,
  variable_type: oneOf('env_var', 'file').nullish(),
  raw: bool.nullish(),
})

export const create = endpoint({
  method: 'POST',
  path: '/projects/:id/pipeline',
  summary: 'Create a pipeline for a branch or tag',
  on: ciProject,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  input: z.object({
    ref: filledText,
    variables: arrayOf(variable, 100, asList).nullish(),
    inputs: z.record(z.string().max(255), z.unknown()).nullish(),
  }),
  output: PipelineEntity,
  async handle({ app, viewer, subject, input }) {
    const { ref, variables, inputs } = input
    const started = await startPipeline(app, viewer, subject, {
      ref,
      variables: variables ?? [],
      inputs: inputs ?? undefined,
    })
    return presentOnePipeline(app, subject, started)
  },
})

/** Converts the form encoding `variables[0][key]=…` to a list. */
function asList(value: unknown): unknown {
  const isNumbered =
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).every((key) => /^\d+$/.test(key))
  return isNumbered ? Object.values(value) : value
}

export const latest = endpoint({
  method: 'GET',
  path: `${PATH}/latest`,
  summary: 'Get the latest pipeline of a branch or a tag',
  on: ciProject,
  allow: 'readPipelines',
  by: 'visitor',
  input: z.object({ ref: text.nullish() }),
  output: PipelineEntity,
  async handle({ app, subject, input }) {
    const found = await latestOf(app, subject, input.ref || subject.project.default_branch)
    if (!found) throw forbidden()
    return presentOnePipeline(app, subject, found)
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a pipeline',
  on: pipeline,
  allow: 'readPipelines',
  by: 'visitor',
  output: PipelineEntity,
  handle: ({ app, subject }) => presentOnePipeline(app, subject, subject.pipeline),
})

export const variables = endpoint({
  method: 'GET',
  path: `${ITEM}/variables`,
  summary: 'List the variables that a pipeline was given',
  on: pipeline,
  allow: 'administer',
  secret: true,
  output: z.array(PipelineVariableEntity),
  async handle({ app, subject }) {
    const rows = await variableRows(app.db, subject.pipeline.id)
    return rows.map(({ key, value_sealed, variable_type, raw }) => ({
      key,
      value: app.vault.open(value_sealed),
      variable_type,
      raw,
    }))
  },
})

export const retry = endpoint({
  method: 'POST',
  path: `${ITEM}/retry`,
  summary: 'Retry failed and canceled jobs of a pipeline',
  on: pipeline,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  output: PipelineEntity,
  async handle({ app, subject }) {
    return presentOnePipeline(app, subject, await retryPipeline(app, subject, subject.pipeline))
  },
})

export const cancel = endpoint({
  method: 'POST',
  path: `${ITEM}/cancel`,
  summary: 'Cancel the jobs of a pipeline',
  on: pipeline,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag'],
  status: 200,
  output: PipelineEntity,
  async handle({ app, subject }) {
    return presentOnePipeline(app, subject, await stopPipeline(app, subject, subject.pipeline))
  },
})

export const rename = endpoint({
  method: 'PUT',
  path: `${ITEM}/metadata`,
  summary: 'Update the name of a pipeline',
  on: pipeline,
  allow: 'run',
  by: ['user', 'job'],
  input: z.object({ name: filledText.pipe(z.string().max(255)) }),
  output: PipelineEntity,
  async handle({ app, subject, input }) {
    return presentOnePipeline(app, subject, await renamePipeline(app, subject.pipeline, input.name))
  },
})

export const destroy = endpoint({
  method: 'DELETE',
  path: ITEM,
  summary: 'Delete a pipeline with its jobs',
  on: pipeline,
  allow: 'own',
  output: null,
  changedAt: ({ pipeline }) => pipeline.updated_at,
  handle: ({ app, viewer, subject }) => deletePipeline(app, viewer, subject, subject.pipeline),
})

export const testReport = endpoint({
  method: 'GET',
  path: `${ITEM}/test_report`,
  summary: 'Get what the tests of a pipeline found',
  on: pipeline,
  allow: 'readJobs',
  by: 'visitor',
  output: TestReportEntity,
  handle: ({ app, subject }) => testReportOf(app, subject.pipeline),
})

export const testSummary = endpoint({
  method: 'GET',
  path: `${ITEM}/test_report_summary`,
  summary: 'Get how many tests of a pipeline passed',
  on: pipeline,
  allow: 'readJobs',
  by: 'visitor',
  output: TestSummaryEntity,
  handle: async ({ app, subject }) => summaryOf(await testReportOf(app, subject.pipeline)),
})
