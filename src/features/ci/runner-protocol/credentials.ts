/** The tokens of the runner protocol. */
import { id, text } from '../../../api/wire.ts'
import { tokenCredential } from '../../../api/credentials.ts'
import { Refusal, forbidden } from '../../../errors.ts'
import { timestamp } from '../../../clock.ts'
import { digestOfPresented, sameSecret } from '../../../lib/crypto/secrets.ts'
import { hotQuery } from '../../../store/hot.ts'
import { byJobToken } from '../job-tokens/authenticate.ts'
import { isAlive, jobOfToken } from '../job-tokens/queries.ts'
import type { Job } from '../jobs/model.ts'
import { scopeOfRegistration } from '../runners/registration.ts'

export const registrationToken = tokenCredential({
  name: 'registration_token',
  callers: 'Agents with a registration token of the instance, a group or a project.',
  params: { token: text },
  isAgent: true,
  refusals: [403],
  async find(app, token) {
    const scope = await scopeOfRegistration(app, token)
    if (!scope) throw forbidden()
    return { scope }
  },
})

const runnerByDigest = hotQuery((db, p: { digest: string }) =>
  db.selectFrom('runners').selectAll().where('token_digest', '=', p.digest),
)

export const runnerToken = tokenCredential({
  name: 'runner_token',
  callers: 'Runners.',
  header: 'RUNNER-TOKEN',
  params: { token: text.nullish() },
  isAgent: true,
  refusals: [403],
  async find(app, token) {
    const [runner] = token === '' ? [] : await runnerByDigest(app.db, { digest: digestOfPresented(token) })
    const isOver = runner?.token_expires_at != null && runner.token_expires_at <= timestamp(app.clock)
    if (!runner || isOver) throw forbidden()
    return { runner, token }
  },
})

/** The token of the running job in the path. A wrong token and a wrong id get the same answer. */
export const jobToken = tokenCredential({
  name: 'job_token',
  callers: 'The runner of the job, with the token of the job.',
  header: 'JOB-TOKEN',
  params: { job_id: id, token: text.nullish() },
  isAgent: true,
  refusals: [403],
  async find(app, token, { job_id }) {
    const job = await app.db
      .selectFrom('ci_jobs')
      .innerJoin('projects', 'projects.id', 'ci_jobs.project_id')
      .selectAll('ci_jobs')
      .where('ci_jobs.id', '=', job_id)
      .where('ci_jobs.kind', '=', 'job')
      .where('projects.deleting', '=', false)
      .executeTakeFirst()
    const digest = job?.token_digest
    if (!job || !digest || token === '' || !sameSecret(digest, digestOfPresented(token))) throw forbidden()
    if (!isAlive(job)) throw jobOver(job)
    return { job }
  },
})

/** The token of any running job, with the rights of the job's user. */
export const anyJobToken = tokenCredential({
  name: 'job_token',
  callers: 'Runners, with the token of a running job.',
  header: 'JOB-TOKEN',
  params: { token: text.nullish() },
  isAgent: true,
  refusals: [403, 404],
  async find(app, token) {
    if (!(await jobOfToken(app, token))) throw forbidden()
    const bearer = await byJobToken(app, token)
    if (!bearer) throw forbidden('Job is not running!')
    return bearer
  },
})

/** Tells the runner the status of a job that is not running, so that the runner drops the job. */
export function jobOver({ status, erased_at }: Pick<Job, 'status' | 'erased_at'>, reason?: string): Refusal {
  const why = reason ?? (erased_at === null ? 'Job is not running!' : 'Job has been erased!')
  return new Refusal('forbidden', `403 Forbidden - ${why}`, { headers: { 'Job-Status': status } })
}
