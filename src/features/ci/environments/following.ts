/** A successful job sets the URL of its environment and the time of its automatic stop. */
import { parseSpan } from '../../../ci/config/durations.ts'
import { Scope, valuesOf, type Variable } from '../../../ci/config/variables.ts'
import type { App } from '../../../context.ts'
import { isWebAddress } from '../../../lib/net/web-address.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { findProjectById } from '../../projects/projects/queries.ts'
import { loadRepositorySubject } from '../../repository/repositories/queries.ts'
import type { Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'
import { ruleVariables, serverOf, slugOfRef, variablesFrom } from '../pipelines/predefined.ts'
import { dependenciesOf } from '../runner-protocol/dependencies.ts'
import { settingsFor } from '../variables/queries.ts'
import type { Environment } from './model.ts'

const LONGEST_URL = 255
const KEEPING: readonly string[] = ['start', 'prepare', 'access']

/** Idempotent. */
export async function followJob(app: App, id: number): Promise<void> {
  const { db } = app
  const job = await db.selectFrom('ci_jobs').selectAll().where('id', '=', id).executeTakeFirst()
  const input = job && optionsOf(job).environment
  if (!input || job.environment_id === null || job.status !== 'success' || job.finished_at === null) return
  const environment = await db
    .selectFrom('environments')
    .selectAll()
    .where('id', '=', job.environment_id)
    .executeTakeFirst()
  if (!environment || !KEEPING.includes(input.action)) return
  const scope =
    input.url?.includes('$') || input.auto_stop_in?.includes('$') ? await scopeOf(app, job, environment) : null
  const written = (text: string) => (scope ? scope.expand(text) : text)
  const url = input.action === 'start' && input.url !== null ? written(input.url) : null
  const span = input.auto_stop_in === null ? null : parseSpan(written(input.auto_stop_in))
  const change = {
    ...(url !== null && url.length <= LONGEST_URL && isWebAddress(url) && { external_url: url }),
    ...(input.auto_stop_in !== null && { auto_stop_at: span ? timeAfter(job.finished_at, span) : null }),
  }
  if (Object.keys(change).length === 0) return
  await db
    .updateTable('environments')
    .set({ ...change, updated_at: job.finished_at })
    .where('id', '=', environment.id)
    .where('state', '=', 'available')
    .execute()
}

const LONGEST_SPAN = 100 * 365 * 24 * 60 * 60
const timeAfter = (from: string, seconds: number) =>
  new Date(Date.parse(from) + Math.min(seconds, LONGEST_SPAN) * 1000).toISOString()

async function scopeOf(app: App, job: Job, environment: Environment): Promise<Scope> {
  const [project, pipeline] = await Promise.all([
    findProjectById(app.db, job.project_id),
    app.db.selectFrom('pipelines').selectAll().where('id', '=', job.pipeline_id).executeTakeFirstOrThrow(),
  ])
  if (!project) return new Scope([])
  const subject = await loadRepositorySubject(app, project, null)
  const settings = await settingsFor(app, { project, isProtected: job.protected, environment: environment.name })
  const given = await app.db
    .selectFrom('pipeline_variables')
    .selectAll()
    .where('pipeline_id', '=', pipeline.id)
    .execute()
  const own: Variable[] = variablesFrom({
    CI_JOB_ID: job.id,
    CI_JOB_NAME: job.name,
    CI_JOB_NAME_SLUG: slugOfRef(job.name),
    CI_JOB_STAGE: job.stage,
    CI_ENVIRONMENT_NAME: environment.name,
    CI_ENVIRONMENT_SLUG: environment.slug,
  })
  // The job's own variables come last: they override the variables of the jobs it depends on.
  const jobIds = [...(await dependenciesOf(app, job)).map((one) => one.job.id), job.id]
  const reported = await app.db
    .selectFrom('ci_job_variables')
    .selectAll()
    .where(inIdList(app.db, 'job_id', idList(app.db, jobIds)))
    .execute()
  reported.sort((a, b) => jobIds.indexOf(a.job_id) - jobIds.indexOf(b.job_id))
  return new Scope([
    valuesOf(own),
    valuesOf(reported.map(({ key, value_sealed }) => ({ key, value: app.vault.open(value_sealed) }))),
    valuesOf(given.map(({ key, value_sealed }) => ({ key, value: app.vault.open(value_sealed) }))),
    // Everybody can read the URL, so it must not contain masked values.
    valuesOf(settings.filter(({ masked }) => !masked)),
    valuesOf(optionsOf(job).variables ?? []),
    valuesOf(ruleVariables(await serverOf(app), subject, pipeline, null)),
  ])
}
