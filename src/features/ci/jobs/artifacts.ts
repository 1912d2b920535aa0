/** Artifacts of jobs: how long the server keeps them, and how it deletes them. */
import { sql, type RawBuilder } from 'kysely'
import { after, HOUR, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { isReferenced } from '../../instance/blobs/jobs.ts'
import { releaseUnkept } from '../pipelines/latest.ts'
import type { Job } from './model.ts'

const AT_ONCE = 500

/** Whether the artifact exists for clients: it has not expired, or it is locked past its expiry. */
export const isLive = ({ clock }: Pick<App, 'clock'>, table = 'ci_artifacts'): RawBuilder<boolean> => {
  const expire_at = sql.ref(`${table}.expire_at`)
  return sql<boolean>`(${expire_at} is null or ${expire_at} > ${timestamp(clock)} or ${sql.ref(`${table}.locked`)})`
}

/** Deletes the rows of expired artifacts, then the blobs without a reference. */
export async function expireArtifacts(app: App): Promise<void> {
  await releaseUnkept(app)
  while (await expireSome(app));
  await discardLeft(app)
}

/** Job logs are not artifacts here and stay. */
async function expireSome({ db, clock }: App): Promise<boolean> {
  const due = await db
    .selectFrom('ci_artifacts')
    .select('id')
    .where('expire_at', '<=', timestamp(clock))
    // The condition must match the partial index word for word.
    .where('expire_at', 'is not', null)
    .where(sql<boolean>`not locked`)
    .orderBy('expire_at')
    .limit(AT_ONCE)
    .execute()
  if (due.length === 0) return false
  const ids = idList(
    db,
    due.map(({ id }) => id),
  )
  await db
    .deleteFrom('ci_artifacts')
    .where(inIdList(db, 'id', ids))
    .execute()
  return due.length === AT_ONCE
}

/** Waits before deleting a blob: a concurrent upload may have the same content. */
async function discardLeft(app: App): Promise<void> {
  const { db, clock } = app
  await db
    .updateTable('ci_left_blobs')
    .set({ left_at: timestamp(clock) })
    .where('left_at', 'is', null)
    .execute()
  for (;;) {
    const left = await db
      .selectFrom('ci_left_blobs')
      .selectAll()
      .where('left_at', '<', after(clock, -HOUR))
      .orderBy('id')
      .limit(AT_ONCE)
      .execute()
    for (const { content } of left) if (!(await isReferenced(app, content))) await app.blobs.remove(content)
    const ids = idList(
      db,
      left.map(({ id }) => id),
    )
    await db
      .deleteFrom('ci_left_blobs')
      .where(inIdList(db, 'id', ids))
      .execute()
    if (left.length < AT_ONCE) return
  }
}

/** Removes the expiry, so that the artifacts stay for good. */
export async function keepArtifacts(app: App, { id }: Pick<Job, 'id'>): Promise<void> {
  await transact(app, async ({ db, clock }) => {
    await db.updateTable('ci_artifacts').set({ expire_at: null }).where('job_id', '=', id).execute()
    await db
      .updateTable('ci_jobs')
      .set({ artifacts_expire_at: null, updated_at: timestamp(clock) })
      .where('id', '=', id)
      .execute()
  })
}

/** Deletes all artifacts of the job, reports included. */
export async function deleteArtifacts({ db }: App, { id }: Pick<Job, 'id'>): Promise<void> {
  await db.deleteFrom('ci_artifacts').where('job_id', '=', id).execute()
}

/** Expires all artifacts of a project. The API hides them at once, and the next sweep deletes them. */
export async function expireProjectArtifacts({ db, clock }: App, project: number): Promise<void> {
  await db
    .updateTable('ci_artifacts')
    .set({ expire_at: timestamp(clock), locked: false })
    .where('project_id', '=', project)
    .execute()
}
