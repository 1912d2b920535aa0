/**
 * Download links in artifact records: `/-/jobs/1/artifacts/raw/a.txt`, `/-/jobs/artifacts/master/download?job=build`.
 */
import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import type { Answer } from '../../../api/endpoint.ts'
import { readQuery } from '../../../api/input.ts'
import { withSlot } from '../../../api/limiters.ts'
import type { PageContent, ProjectPage } from '../../../api/server.ts'
import type { App } from '../../../context.ts'
import { Refusal } from '../../../errors.ts'
import { limitedCaller } from '../../../lib/async/limiter.ts'
import { pageBelow } from '../../../lib/net/page-below.ts'
import { webViewer } from '../../identity/web-viewer.ts'
import { findProjectById, webUrlOf } from '../../projects/projects/queries.ts'
import type { RepositorySubject } from '../../repository/repositories/policy.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import { ciPolicy } from '../pipelines/policy.ts'
import { answerArchive, answerFile, seesArtifacts } from './downloads.ts'
import { findJob, jobOfRef } from './queries.ts'

/** `file` and `raw` answer the same bytes: the server has no page around a file. */
const VERBS = ['download', 'raw', 'file']

export const artifactPage: ProjectPage = {
  name: 'jobs',
  async find(gateway, request, { id }, rest, response) {
    const { app } = gateway
    const project = await findProjectById(app.db, id)
    if (!project) return null
    const subject = await loadRepositorySubject(app, project, await webViewer(gateway, request))
    if (!ciPolicy.read(subject) || !ciPolicy.readJobs(subject)) return null
    const [job, artifacts, verb, ...path] = rest
    if (job === 'artifacts') return toJob(app, subject, request, rest.slice(1))
    if (artifacts !== 'artifacts' || !/^\d{1,15}$/.test(job ?? '') || !VERBS.includes(verb ?? '')) return null
    return artifactsOf(app, subject, request, response, { job: Number(job), verb: verb!, path: path.join('/') })
  },
}

interface RequestContext {
  readonly job: number
  readonly verb: string
  readonly path: string
}

async function artifactsOf(
  app: App,
  subject: RepositorySubject,
  { headers, method, ip }: FastifyRequest,
  response: ServerResponse,
  { job: id, verb, path }: RequestContext,
): Promise<PageContent | null> {
  const job = await findJob(app, subject.project.id, id)
  if (!job || !seesArtifacts(subject, job)) return null
  const input = { range: headers.range, isHead: method === 'HEAD' }
  const answer = await withSlot(app.limiters.download, limitedCaller(subject.viewer?.id, ip), response, () =>
    (verb === 'download' ? answerArchive(app, job, input) : answerFile(app, job, path)).catch((error: unknown) => {
      if (error instanceof Refusal) return null
      throw error
    }),
  )
  return answer && shown(answer)
}

const shown = ({ status, headers, body }: Answer): PageContent => ({
  status,
  headers,
  body: (body as Readable | undefined) ?? Buffer.alloc(0),
})

/**
 * A branch name may contain slashes, and a path may contain the same words. The first split that names an existing job
 * wins.
 */
async function toJob(
  app: App,
  subject: RepositorySubject,
  { raw }: FastifyRequest,
  rest: readonly string[],
): Promise<PageContent | null> {
  const { job: name } = readQuery(raw.url!)
  if (typeof name !== 'string' || name === '') return null
  for (const [at, verb] of rest.entries()) {
    if (at === 0 || !VERBS.includes(verb)) continue
    const job = await jobOfRef(app, subject.project.id, rest.slice(0, at).join('/'), name)
    if (!job) continue
    const path = rest.slice(at).map(encodeURIComponent).join('/')
    const Location = pageBelow(webUrlOf(app, subject), `jobs/${job.id}/artifacts/${path}`)
    return { status: 302, headers: { Location }, body: Buffer.alloc(0) }
  }
  return null
}
