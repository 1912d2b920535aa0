/** Endpoints that runners call about jobs: request a job, report progress, upload artifacts. */
import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { Answer, endpoint } from '../../../api/endpoint.ts'
import { entity, id, oneOf, text } from '../../../api/wire.ts'
import type { App } from '../../../context.ts'
import { Refusal, badParameter, notFound } from '../../../errors.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'
import { loadLimits } from '../../instance/plan-limits/queries.ts'
import { answerArchive } from '../jobs/downloads.ts'
import { dropJob } from '../jobs/transitions.ts'
import { noteContact } from '../runners/service.ts'
import { anyJobToken, jobOver, jobToken, runnerToken } from './credentials.ts'
import { mayTakeFrom } from './dependencies.ts'
import { endHandover } from './handovers.ts'
import { info } from './input.ts'
import { askForJob } from './picking.ts'
import { endJob, findRunnerJob, statusOf, touchJob } from './progress.ts'
import { LARGEST_PATCH, appendTrace, isTraceWhole } from './trace.ts'
import { keepUpload, largestUpload, receiveFile } from './uploads.ts'

/** The connection outlives the request, so the listener is removed after the work. */
async function unlessGone<T>({ socket }: IncomingMessage, work: (gone: AbortSignal) => Promise<T>): Promise<T> {
  const gone = new AbortController()
  const leave = () => gone.abort()
  socket.once('close', leave)
  try {
    return await work(gone.signal)
  } finally {
    socket.off('close', leave)
  }
}

const LARGEST_REQUEST = 32 * 1024

export const request = endpoint({
  method: 'POST',
  path: '/jobs/request',
  summary: 'Request a job, as a runner',
  by: runnerToken,
  allow: 'anyone',
  input: z.object({ system_id: text.nullish(), last_update: text.nullish(), info }),
  body: LARGEST_REQUEST,
  output: z.unknown(),
  async handle({ app, credential: { runner }, input, caller, request }) {
    const manager_id = await noteContact(app, runner, { ...input, address: caller.address })
    const features = input.info?.features ?? {}
    const last_update = input.last_update || null
    const answered = await unlessGone(request, (gone) =>
      askForJob(app, { runner, manager_id, features, last_update, gone }),
    )
    if ('job' in answered)
      return new Answer(201, answered.job, {}, (isSent) => void endHandover(app, answered.id, isSent))
    // A runner that lost a race gets no `last_update`, so it asks again without waiting.
    if (answered.isConflict) return new Answer(409, { message: '409 Conflict' })
    return new Answer(204, undefined, { 'X-GitLab-Last-Update': answered.last_update })
  },
})

const JOB = '/jobs/:job_id'

const WATCHED_SECONDS = 3

export const update = endpoint({
  method: 'PUT',
  path: JOB,
  summary: 'Update the state of a job, as its runner',
  by: jobToken,
  allow: 'anyone',
  input: z.object({
    state: oneOf('running', 'success', 'failed').nullish(),
    failure_reason: text.nullish(),
    exit_code: z.int().nullish(),
    /** The runner ran nothing of the script, so the job returns to the queue. */
    requeue: z.boolean().nullish(),
    checksum: text.nullish(),
    output: z.object({ checksum: text.nullish(), bytesize: z.int().nullish() }).nullish(),
    info,
  }),
  output: z.unknown(),
  async handle({ app, credential: { job }, input }) {
    if (input.state === 'success' || input.state === 'failed') {
      const checksum = input.output?.checksum ?? input.checksum
      if (!(await isTraceWhole(app, job, { checksum, bytesize: input.output?.bytesize })))
        return new Answer(412, { message: '412 Precondition Failed' }, { 'Job-Status': job.status })
      return new Answer(200, true, { 'Job-Status': await endJob(app, job, input) })
    }
    await touchJob(app, job)
    return new Answer(200, true, {
      'Job-Status': job.status,
      'X-GitLab-Trace-Update-Interval': String(WATCHED_SECONDS),
    })
  },
})

export const appendLog = endpoint({
  method: 'PATCH',
  path: `${JOB}/trace`,
  summary: 'Append to the log of a job, as its runner',
  by: jobToken,
  allow: 'anyone',
  readsBody: true,
  input: z.object({ debug_trace: text.nullish() }),
  output: z.unknown(),
  async handle({ app, credential: { job }, request }) {
    const range = request.headers['content-range']
    if (range === undefined) throw new Refusal('bad_request', '400 Missing header Content-Range')
    const [, start] = /^(\d{1,15})-\d{1,15}$/.exec(range) ?? []
    if (start === undefined) throw badParameter('400 Bad Request')
    const bytes = await readPatch(request)
    const limit = await largestLog(app)
    const { outcome, size } = await appendTrace(app, job, { start: Number(start), bytes }, limit)
    if (outcome === 'over') throw jobOver(await statusOf(app, job))
    if (outcome === 'too_large') {
      await dropJob(app, job, { reason: 'trace_size_exceeded' })
      throw jobOver({ ...job, status: 'failed' }, 'Job log is too large')
    }
    const headers = { 'Job-Status': job.status, Range: `0-${size}` }
    if (outcome === 'mismatch') return new Answer(416, { message: '416 Range Not Satisfiable' }, headers)
    return new Answer(202, `0-${size}`, { ...headers, 'X-GitLab-Trace-Update-Interval': String(WATCHED_SECONDS) })
  },
})

/** The log limit of the plan is in megabytes. */
async function largestLog(app: App): Promise<number> {
  const { ci_jobs_trace_size_limit: most } = await loadLimits(app.db)
  return most === 0 ? Infinity : most * 1024 * 1024
}

const PATCH_DEADLINE_MS = 60_000

async function readPatch(request: IncomingMessage): Promise<Buffer> {
  const late = setTimeout(() => request.destroy(), PATCH_DEADLINE_MS).unref()
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > LARGEST_PATCH) chunks.length = 0
      else chunks.push(chunk)
    }
  } catch {
    throw badParameter('400 Bad Request')
  } finally {
    clearTimeout(late)
  }
  if (size > LARGEST_PATCH) throw new Refusal('too_large')
  return Buffer.concat(chunks)
}

const FORMATS = ['zip', 'gzip', 'raw'] as const
const TYPE = /^[a-z][a-z0-9_]{0,50}$/

export const upload = endpoint({
  method: 'POST',
  path: `${JOB}/artifacts`,
  summary: 'Upload job artifacts, as the runner',
  by: jobToken,
  allow: 'anyone',
  readsBody: true,
  input: z.object({
    expire_in: text.nullish(),
    artifact_type: z.string().max(51).regex(TYPE).nullish(),
    artifact_format: z.enum(FORMATS).nullish(),
  }),
  output: z.unknown(),
  async handle({ app, credential: { job }, input, request }) {
    const sent = await receiveFile(app, request)
    const type = input.artifact_type ?? 'archive'
    const options = { type, format: input.artifact_format ?? ('zip' as const), expire_in: input.expire_in }
    try {
      await keepUpload(app, job, sent, options)
    } catch (error) {
      await releaseBlob(app, sent.blob.digest)
      throw error
    }
    return new Answer(201, { message: '201 Created' })
  },
})

export const authorizeUpload = endpoint({
  method: 'POST',
  path: `${JOB}/artifacts/authorize`,
  summary: 'Check whether an upload is accepted',
  by: jobToken,
  allow: 'anyone',
  input: z.object({
    filesize: z.coerce.number().int().nullish(),
    artifact_type: text.nullish(),
  }),
  output: entity({ MaximumSize: z.int() }),
  status: 200,
  async handle({ app, input }) {
    const most = await largestUpload(app)
    if ((input.filesize ?? 0) > most) throw new Refusal('too_large')
    return { MaximumSize: most }
  },
})

const bytes = z.string().meta({ format: 'binary' })

/** Artifacts of another job that the job's user may read. */
export const download = endpoint({
  method: 'GET',
  path: `${JOB}/artifacts`,
  summary: 'Download job artifacts, as a runner',
  by: anyJobToken,
  allow: 'anyone',
  input: z.object({ job_id: id, direct_download: text.nullish() }),
  output: bytes,
  async handle({ app, credential, input, range, isHead }) {
    const job = await findRunnerJob(app, input.job_id)
    if (!job || !(await mayTakeFrom(app, credential.job, credential.user, job))) throw notFound()
    return answerArchive(app, job, { range, isHead })
  },
})
