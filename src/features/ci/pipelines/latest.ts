/** Keeps the artifacts of the newest successful pipeline of each ref past their expiry. */
import { sql } from 'kysely'
import { timestamp } from '../../../clock.ts'
import type { App, TransactionApp } from '../../../context.ts'
import { lockName, idList, inIdList } from '../../../store/dialect.ts'
import { currentSettings } from '../../instance/settings/queries.ts'
import { familyOf } from './children.ts'
import type { Pipeline } from './model.ts'

interface Ref {
  readonly project_id: number
  readonly ref: string
  readonly tag: boolean
}

/** Runs in the transaction in which the pipeline, or a child of it, succeeds. */
export async function keepLatest(app: TransactionApp, pipeline: Pipeline): Promise<void> {
  const { db, clock } = app
  const { project_id, ref, tag } = pipeline
  const project = await db
    .selectFrom('projects')
    .select('keep_latest_artifact')
    .where('id', '=', project_id)
    .executeTakeFirst()
  if (!project?.keep_latest_artifact || !(await currentSettings(app)).keep_latest_artifact) return
  // If two pipelines succeed at the same time, the newer one keeps its artifacts.
  await lockName(db, `latest of ${project_id} ${ref}`)
  const newest = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', project_id)
    .where('ref', '=', ref)
    .where('tag', '=', tag)
    .where('status', '=', 'success')
    .where('source', '!=', 'parent_pipeline')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const family = newest ? await familyOf(db, newest.id) : []
  if (!family.includes(pipeline.id)) return
  const ids = idList(db, family)
  await releaseRef(app, pipeline, family)
  await db
    .updateTable('ci_artifacts')
    .set({ locked: true })
    .where('expire_at', '>', timestamp(clock))
    .where('job_id', 'in', (eb) =>
      eb
        .selectFrom('ci_jobs')
        .select('ci_jobs.id')
        .where(inIdList(db, 'ci_jobs.pipeline_id', ids))
        .where('ci_jobs.retried', '=', false),
    )
    .execute()
}

/** Restores the expiry of the ref's artifacts, except those of the pipelines in `but`. */
export async function releaseRef({ db }: App, { project_id, ref, tag }: Ref, but: readonly number[] = []) {
  await db
    .updateTable('ci_artifacts')
    .set({ locked: false })
    .where('project_id', '=', project_id)
    .where('locked', '=', true)
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('ci_jobs')
          .select('ci_jobs.id')
          .whereRef('ci_jobs.id', '=', 'ci_artifacts.job_id')
          .where('ci_jobs.ref', '=', ref)
          .where('ci_jobs.tag', '=', tag)
          .where(sql<boolean>`not (${inIdList(db, 'ci_jobs.pipeline_id', idList(db, but))})`),
      ),
    )
    .execute()
}

/** Unlocks artifacts of projects that do not keep the latest artifacts any more. */
export async function releaseUnkept(app: App): Promise<void> {
  const isKept = (await currentSettings(app)).keep_latest_artifact
  await app.db
    .updateTable('ci_artifacts')
    .set({ locked: false })
    .where('locked', '=', true)
    .$if(isKept, (query) =>
      query.where('project_id', 'in', (eb) =>
        eb.selectFrom('projects').select('projects.id').where('projects.keep_latest_artifact', '=', false),
      ),
    )
    .execute()
}
