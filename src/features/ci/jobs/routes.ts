import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { pageOf } from '../../../api/pages.ts'
import { arrayOf, bool, filledText, listOf, longText, oneOf, text } from '../../../api/wire.ts'
import { badParameter, notFound } from '../../../errors.ts'
import { SANDBOXED } from '../../../lib/net/file-headers.ts'
import { ciProject, pipeline } from '../pipelines/queries.ts'
import { deleteArtifacts, expireProjectArtifacts, keepArtifacts } from './artifacts.ts'
import { archiveOf } from './archives.ts'
import { answerArchive, answerFile, assertSeesArtifacts } from './downloads.ts'
import { BridgeEntity, JobEntity } from './entity.ts'
import { listPipelineJobs, listProjectJobs } from './lists.ts'
import { JOB_STATUSES } from './model.ts'
import { job, jobOfRef, loadJob, presentBridges, presentJobs, presentOneJob } from './queries.ts'
import { eraseJob, playJob, retryJob, stopJob } from './service.ts'
import { openTrace } from './traces.ts'

const PATH = '/projects/:id/jobs'
const ITEM = `${PATH}/:job_id` as const
const OF_PIPELINE = '/projects/:id/pipelines/:pipeline_id'

const scope = listOf(text).nullish()

function statusesOf(scopes: readonly string[] | null | undefined): readonly string[] | undefined {
  if (!scopes || scopes.length === 0) return undefined
  const isKnown = scopes.every((one) => (JOB_STATUSES as readonly string[]).includes(one))
  if (!isKnown) throw badParameter('Scope contains invalid value(s)')
  return scopes
}

export const list = endpoint({
  method: 'GET',
  path: PATH,
  summary: 'List the jobs of a project',
  on: ciProject,
  allow: 'readJobs',
  by: 'visitor',
  input: z.object({ scope, order_by: oneOf('id').nullish(), sort: oneOf('asc', 'desc').nullish() }),
  output: pageOf(JobEntity),
  async handle({ app, subject, input, page }) {
    const { items, total } = await listProjectJobs(app, subject.project.id, statusesOf(input.scope), page, input.sort)
    return { total, items: await presentJobs(app, subject, items) }
  },
})

export const listOfPipeline = endpoint({
  method: 'GET',
  path: `${OF_PIPELINE}/jobs`,
  summary: 'List the jobs of a pipeline',
  on: pipeline,
  allow: 'readJobs',
  by: 'visitor',
  input: z.object({ scope, include_retried: bool.nullish() }),
  output: pageOf(JobEntity),
  async handle({ app, subject, input, page }) {
    const filter = { kind: 'job', statuses: statusesOf(input.scope), include_retried: input.include_retried } as const
    const { items, total } = await listPipelineJobs(app, subject.pipeline.id, filter, page)
    return { total, items: await presentJobs(app, subject, items) }
  },
})

export const listBridges = endpoint({
  method: 'GET',
  path: `${OF_PIPELINE}/bridges`,
  summary: 'List the jobs of a pipeline that make other pipelines',
  on: pipeline,
  allow: 'readJobs',
  by: 'visitor',
  input: z.object({ scope }),
  output: pageOf(BridgeEntity),
  async handle({ app, subject, input, page }) {
    const filter = { kind: 'bridge', statuses: statusesOf(input.scope) } as const
    const { items, total } = await listPipelineJobs(app, subject.pipeline.id, filter, page)
    return { total, items: await presentBridges(app, subject, items) }
  },
})

export const get = endpoint({
  method: 'GET',
  path: ITEM,
  summary: 'Get a job',
  on: job,
  allow: 'readJobs',
  by: 'visitor',
  output: JobEntity,
  handle: ({ app, subject }) => presentOneJob(app, subject, subject.job),
})

const bytes = z.string().meta({ format: 'binary' })

export const trace = endpoint({
  method: 'GET',
  path: `${ITEM}/trace`,
  summary: 'Get the log of a job',
  on: job,
  allow: 'readJobs',
  by: 'visitor',
  output: bytes,
  async handle({ app, subject }) {
    const one = subject.job
    // An empty log of a running job is no error: the client polls again.
    const isBegun = one.trace_size > 0 || one.status === 'running' || one.status === 'canceling'
    const log = isBegun ? await openTrace(app, one) : null
    if (!log) throw notFound()
    return new Answer(200, log, {
      'Content-Type': 'text/plain',
      'Content-Disposition': `infile; filename="${one.id}.log"`,
      ...SANDBOXED,
    })
  },
})

export const cancel = endpoint({
  method: 'POST',
  path: `${ITEM}/cancel`,
  summary: 'Cancel a job',
  on: job,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag of the job'],
  input: z.object({ force: bool.nullish() }),
  output: JobEntity,
  async handle({ app, subject, input: { force } }) {
    await stopJob(app, subject, subject.job, { isForced: force ?? false })
    return presentOneJob(app, subject, await loadJob(app, subject.job.id))
  },
})

export const retry = endpoint({
  method: 'POST',
  path: `${ITEM}/retry`,
  summary: 'Retry a job',
  on: job,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag of the job'],
  output: JobEntity,
  async handle({ app, subject }) {
    const made = await retryJob(app, subject, subject.job)
    return presentOneJob(app, subject, await loadJob(app, made.id))
  },
})

const given = z.object({ key: filledText.refine((key) => /^\w{1,255}$/.test(key)), value: longText })

export const play = endpoint({
  method: 'POST',
  path: `${ITEM}/play`,
  summary: 'Run a manual job',
  on: job,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag of the job'],
  input: z.object({ job_variables_attributes: arrayOf(given, 100).nullish() }),
  output: JobEntity,
  async handle({ app, subject, input }) {
    const played = await playJob(app, subject, subject.job, { variables: input.job_variables_attributes ?? [] })
    return presentOneJob(app, subject, await loadJob(app, played.id))
  },
})

export const erase = endpoint({
  method: 'POST',
  path: `${ITEM}/erase`,
  summary: 'Remove the log and the artifacts of a job',
  on: job,
  allow: 'run',
  alsoAsks: ['run pipelines on the branch or tag of the job'],
  output: JobEntity,
  async handle({ app, subject }) {
    await eraseJob(app, subject, subject.job)
    return { ...(await presentOneJob(app, subject, await loadJob(app, subject.job.id))), download_url: null }
  },
})

export const keep = endpoint({
  method: 'POST',
  path: `${ITEM}/artifacts/keep`,
  summary: 'Keep the artifacts of a job',
  on: job,
  allow: 'run',
  output: JobEntity,
  async handle({ app, subject }) {
    if (!(await archiveOf(app, subject.job.id))) throw notFound()
    await keepArtifacts(app, subject.job)
    return { ...(await presentOneJob(app, subject, await loadJob(app, subject.job.id))), download_url: null }
  },
})

export const download = endpoint({
  method: 'GET',
  path: `${ITEM}/artifacts`,
  summary: 'Get the artifacts of a job',
  on: job,
  limiter: 'download',
  allow: 'readJobs',
  alsoAsks: ['read the artifacts, by `artifacts:access` of the job'],
  by: ['visitor', 'job'],
  output: bytes,
  async handle({ app, subject, range, isHead }) {
    assertSeesArtifacts(subject, subject.job)
    return answerArchive(app, subject.job, { range, isHead })
  },
})

export const downloadFile = endpoint({
  method: 'GET',
  path: `${ITEM}/artifacts/*`,
  summary: 'Get one file of the artifacts of a job',
  on: job,
  limiter: 'download',
  allow: 'readJobs',
  alsoAsks: ['read the artifacts, by `artifacts:access` of the job'],
  by: ['visitor', 'job'],
  input: z.object({ '*': text }),
  output: bytes,
  async handle({ app, subject, input }) {
    assertSeesArtifacts(subject, subject.job)
    return answerFile(app, subject.job, input['*'])
  },
})

export const downloadOfRef = endpoint({
  method: 'GET',
  path: `${PATH}/artifacts/:ref_name/download`,
  summary: 'Get the artifacts of a job by name, from the latest successful pipeline of a branch or tag',
  on: ciProject,
  limiter: 'download',
  allow: 'readJobs',
  alsoAsks: ['read the artifacts, by `artifacts:access` of the job'],
  by: ['visitor', 'job'],
  input: z.object({ ref_name: text, job: filledText }),
  refuses: ['search_recent_successful_pipelines'],
  output: bytes,
  async handle({ app, subject, input, range, isHead }) {
    const found = await jobOfRef(app, subject.project.id, input.ref_name, input.job)
    if (!found) throw notFound()
    assertSeesArtifacts(subject, found)
    return answerArchive(app, found, { range, isHead })
  },
})

export const downloadFileOfRef = endpoint({
  method: 'GET',
  path: `${PATH}/artifacts/:ref_name/raw/*`,
  summary: 'Get one file of the artifacts of a job by its name',
  on: ciProject,
  limiter: 'download',
  allow: 'readJobs',
  alsoAsks: ['read the artifacts, by `artifacts:access` of the job'],
  by: ['visitor', 'job'],
  input: z.object({ ref_name: text, job: filledText, '*': text }),
  refuses: ['search_recent_successful_pipelines'],
  output: bytes,
  async handle({ app, subject, input }) {
    const found = await jobOfRef(app, subject.project.id, input.ref_name, input.job, { withChildren: true })
    if (!found) throw notFound()
    assertSeesArtifacts(subject, found)
    return answerFile(app, found, input['*'])
  },
})

export const destroyArtifacts = endpoint({
  method: 'DELETE',
  path: `${ITEM}/artifacts`,
  summary: 'Delete the artifacts of a job',
  on: job,
  allow: 'administer',
  output: null,
  handle: ({ app, subject }) => deleteArtifacts(app, subject.job),
})

export const destroyAllArtifacts = endpoint({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  summary: 'Delete the artifacts of all jobs of a project',
  on: ciProject,
  allow: 'administer',
  status: 202,
  output: null,
  handle: ({ app, subject }) => expireProjectArtifacts(app, subject.project.id),
})
