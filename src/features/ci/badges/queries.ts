import type { App } from '../../../context.ts'
import type { JobStatus } from '../jobs/model.ts'

const pipelinesOf = ({ db }: App, project: number, ref: string) =>
  db
    .selectFrom('pipelines')
    .select(['id', 'status', 'coverage'])
    .where('project_id', '=', project)
    .where('ref', '=', ref)
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)

/** The status of the newest pipeline of a ref, or null without a pipeline. */
export async function statusOfRef(
  app: App,
  project: number,
  ref: string,
  { ignoreSkipped }: { ignoreSkipped: boolean },
): Promise<JobStatus | null> {
  const query = pipelinesOf(app, project, ref)
  const found = await (ignoreSkipped ? query.where('status', '!=', 'skipped') : query).executeTakeFirst()
  return found?.status ?? null
}

/** The coverage of the newest successful pipeline, or of one job in that pipeline. */
export async function coverageOfRef(
  app: App,
  project: number,
  ref: string,
  job: string | null,
): Promise<number | null> {
  const found = await pipelinesOf(app, project, ref).where('status', '=', 'success').executeTakeFirst()
  if (!found || job === null) return found?.coverage ?? null
  const one = await app.db
    .selectFrom('ci_jobs')
    .select('coverage')
    .where('pipeline_id', '=', found.id)
    .where('name', '=', job)
    .where('retried', '=', false)
    .executeTakeFirst()
  return one?.coverage ?? null
}
