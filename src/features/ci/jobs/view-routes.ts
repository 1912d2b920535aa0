/** Endpoints that the web pages need to show jobs in parts. They are not part of the API contract. */
import { z } from 'zod'
import { endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { entity, filledText, int, text } from '../../../api/wire.ts'
import { pipeline } from '../pipelines/queries.ts'
import { listArtifacts } from './artifact-tree.ts'
import { assertSeesArtifacts } from './downloads.ts'
import { GraphEntity, loadGraph } from './graph.ts'
import { job } from './queries.ts'
import { lastPart, partFromByte, partFromLine, searchTrace } from './trace-parts.ts'

const ITEM = '/projects/:id/jobs/:job_id'

const position = int.pipe(z.int().min(0).max(Number.MAX_SAFE_INTEGER))

export const tracePart = endpoint({
  method: 'GET',
  path: `${ITEM}/trace_part`,
  summary: 'Get a part of the log of a job, at most 512 KB',
  on: job,
  allow: 'readJobs',
  by: 'visitor',
  input: z.object({ line: position.nullish(), start: position.nullish() }),
  output: entity({
    start: z.int(),
    end: z.int(),
    size: z.int(),
    line: z.int().nullable(),
    content: z.string(),
  }).meta({ id: 'TracePart' }),
  handle({ app, subject, input: { line, start } }) {
    if (typeof start === 'number') return partFromByte(app, subject.job, start)
    return typeof line === 'number' ? partFromLine(app, subject.job, Math.max(1, line)) : lastPart(app, subject.job)
  },
})

export const traceSearch = endpoint({
  method: 'GET',
  path: `${ITEM}/trace_search`,
  summary: 'Search the log of a job: the first 100 matching lines',
  on: job,
  allow: 'readJobs',
  by: 'visitor',
  input: z.object({ search: filledText }),
  output: entity({
    matches: z.array(entity({ line: z.int(), text: z.string() })),
    more: z.boolean(),
  }).meta({ id: 'TraceMatches' }),
  handle: ({ app, subject, input }) => searchTrace(app, subject.job, input.search),
})

export const artifactsTree = endpoint({
  method: 'GET',
  path: `${ITEM}/artifacts_tree`,
  summary: 'List what lies in a folder of the artifacts of a job',
  on: job,
  allow: 'readJobs',
  alsoAsks: ['read the artifacts, by `artifacts:access` of the job'],
  by: 'visitor',
  input: z.object({ path: text.nullish() }),
  output: pageOf(
    entity({ name: z.string(), path: z.string(), type: z.enum(['tree', 'blob']), size: z.int() }).meta({
      id: 'ArtifactEntry',
    }),
  ),
  async handle({ app, subject, input, page }) {
    assertSeesArtifacts(subject, subject.job)
    const all = await listArtifacts(app, subject.job, input.path ?? '')
    return { total: all.length, items: all.slice(page.offset, page.offset + page.limit) }
  },
})

export const graph = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/graph',
  summary: 'Get the stages of a pipeline with their jobs and what each waits for',
  on: pipeline,
  allow: 'readJobs',
  by: 'visitor',
  output: GraphEntity,
  handle: ({ app, subject, viewer }) => loadGraph(app, subject, viewer),
})
