/** Authenticates runners and jobs by a token in the body or in a header. */
import type { IncomingMessage } from 'node:http'
import type { App } from '../../../context.ts'
import { Refusal, forbidden } from '../../../errors.ts'
import { timestamp } from '../../../clock.ts'
import { digestOfPresented, sameSecret } from '../../../lib/crypto/secrets.ts'
import { hotQuery } from '../../../store/hot.ts'
import { isAlive } from '../job-tokens/queries.ts'
import type { Job } from '../jobs/model.ts'
import type { Runner } from '../runners/model.ts'

const LONGEST_TOKEN = 200

/** The token of the body takes precedence. */
export function presentedToken(
  request: IncomingMessage,
  header: 'runner-token' | 'job-token',
  given?: string | null,
): string {
  const shown = given || request.headers[header]
  return typeof shown === 'string' && shown.length <= LONGEST_TOKEN ? shown : ''
}

const runnerByDigest = hotQuery((db, p: { digest: string }) =>
  db.selectFrom('runners').selectAll().where('token_digest', '=', p.digest),
)

export async function runnerOf(app: App, token: string): Promise<Runner> {
  const [runner] = token === '' ? [] : await runnerByDigest(app.db, { digest: digestOfPresented(token) })
  const isOver = runner?.token_expires_at != null && runner.token_expires_at <= timestamp(app.clock)
  if (!runner || isOver) throw forbidden()
  return runner
}

/** Finds the job in any status. A wrong token and a wrong id get the same answer. */
export async function authenticatedJob(app: App, id: number, token: string): Promise<Job> {
  const job = await app.db
    .selectFrom('ci_jobs')
    .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
    .selectAll('ci_jobs')
    .where('ci_jobs.id', '=', id)
    .where('ci_jobs.kind', '=', 'job')
    .where('projects.deleting', '=', false)
    .executeTakeFirst()
  const digest = job?.token_digest
  if (!job || !digest || token === '' || !sameSecret(digest, digestOfPresented(token))) throw forbidden()
  return job
}

/** Finds a running job. For other jobs the answer tells the runner the status, so that the runner drops the job. */
export async function runningJob(app: App, id: number, token: string): Promise<Job> {
  const job = await authenticatedJob(app, id, token)
  if (!isAlive(job)) throw jobOver(job)
  return job
}

export function jobOver({ status, erased_at }: Pick<Job, 'status' | 'erased_at'>, reason?: string): Refusal {
  const why = reason ?? (erased_at === null ? 'Job is not running!' : 'Job has been erased!')
  return new Refusal('forbidden', `403 Forbidden - ${why}`, { headers: { 'Job-Status': status } })
}
