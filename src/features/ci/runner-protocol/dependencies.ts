/** The jobs whose results a job is given: those it names, else all of earlier stages. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { hotQuery } from '../../../store/hot.ts'
import type { Artifact, Job } from '../jobs/model.ts'
import { optionsOf } from '../jobs/options.ts'

export interface Dependency {
  readonly job: Pick<Job, 'id' | 'name' | 'status' | 'options'>
  /** Null: it has kept none, or none any more. */
  readonly archive: Artifact | null
}

const endedJobs = hotQuery((db, p: { pipeline_id: number; id: number; before?: number }, given) =>
  db
    .selectFrom('ci_jobs')
    .select(['id', 'name', 'status', 'options'])
    .where('pipeline_id', '=', p.pipeline_id)
    .where('kind', '=', sql.lit('job'))
    .where('retried', '=', false)
    .where('id', '!=', p.id)
    .where(sql<boolean>`status in ('success', 'failed', 'canceled')`)
    .$if(given('before'), (query) => query.where('stage_position', '<', p.before!))
    .orderBy('stage_position')
    .orderBy('id'),
)

export async function dependenciesOf(app: App, job: Job): Promise<Dependency[]> {
  const { needs = null, dependencies = null } = optionsOf(job)
  const wanted =
    dependencies ?? needs?.flatMap((need) => (need.kind === 'job' && need.artifacts ? [need.job] : [])) ?? null
  if (wanted?.length === 0) return []
  const { id, pipeline_id, stage_position } = job
  const rows = await endedJobs(app.db, { pipeline_id, id, ...(wanted === null && { before: stage_position }) })
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
    .where((eb) => eb.or([eb('expire_at', 'is', null), eb('expire_at', '>', timestamp(app.clock))]))
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
