/** The jobs whose results a job is given: those it names, else all of earlier stages. */
import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { isLive } from '../jobs/artifacts.ts'
import type { Artifact, Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'

export interface Dependency {
  readonly job: Pick<Job, 'id' | 'name' | 'status' | 'options'>
  /** Null: it has kept none, or none any more. */
  readonly archive: Artifact | null
}

export async function dependenciesOf(app: App, job: Job): Promise<Dependency[]> {
  const { needs = null, dependencies = null } = optionsOf(job)
  const wanted =
    dependencies ?? needs?.flatMap((need) => (need.kind === 'job' && need.artifacts ? [need.job] : [])) ?? null
  if (wanted?.length === 0) return []
  const rows = await app.db
    .selectFrom('ci_jobs')
    .select(['id', 'name', 'status', 'options'])
    .where('pipeline_id', '=', job.pipeline_id)
    .where('kind', '=', 'job')
    .where('retried', '=', false)
    .where('id', '!=', job.id)
    .where('status', 'in', ['success', 'failed', 'canceled'])
    .$if(wanted === null, (query) => query.where('stage_position', '<', job.stage_position))
    .orderBy('stage_position')
    .orderBy('id')
    .execute()
  const chosen = wanted === null ? rows : rows.filter(({ name }) => wanted.includes(name))
  if (chosen.length === 0) return []
  const archives = await app.db
    .selectFrom('ci_artifacts')
    .selectAll()
    .where(
      inIdList(
        app.db,
        'job_id',
        idList(
          app.db,
          chosen.map(({ id }) => id),
        ),
      ),
    )
    .where('file_type', '=', 'archive')
    .where(isLive(app))
    .execute()
  const byJob = new Map(archives.map((archive) => [archive.job_id, archive]))
  return chosen.map((one) => ({ job: one, archive: byJob.get(one.id) ?? null }))
}

/** Whether something that the job needs was there and is gone. */
export const lacksArchive = (found: readonly Dependency[]): boolean =>
  found.some(({ job, archive }) => {
    const { artifacts } = optionsOf(job)
    const wasKept = artifacts !== null && artifacts !== undefined && (artifacts.paths.length > 0 || artifacts.untracked)
    return archive === null && job.status === 'success' && wasKept && isExpected(artifacts.when)
  })

const isExpected = (when: string) => when !== 'on_failure'
