/** What jobs have kept: how long, and what becomes of it. */
import { sql, type RawBuilder } from 'kysely'
import { after, HOUR, timestamp } from '../../../clock.ts'
import type { App } from '../../../context.ts'
import { idList, inIdList } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { isReferenced } from '../../instance/blobs/jobs.ts'
import { releaseUnkept } from '../pipelines/latest.ts'
import type { Job } from './model.ts'

const AT_ONCE = 500

/** Whether it is there: its time is not over, or it is kept past that. */
export const isLive = ({ clock }: Pick<App, 'clock'>, table = 'ci_artifacts'): RawBuilder<boolean> => {
  const expire_at = sql.ref(`${table}.expire_at`)
  return sql<boolean>`(${expire_at} is null or ${expire_at} > ${timestamp(clock)} or ${sql.ref(`${table}.locked`)})`
}

/** Rows of what has expired, then blobs that nobody names any more. */
export async function expireArtifacts(app: App): Promise<void> {
  await releaseUnkept(app)
  while (await expireSome(app));
  await discardLeft(app)
}

/** Logs are no artifacts here: they stay. */
async function expireSome({ db, clock }: App): Promise<boolean> {
  const due = await db
    .selectFrom('ci_artifacts')
    .select('id')
    .where('expire_at', '<=', timestamp(clock))
    // Word for word as the index has it.
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

/** Not at once: somebody may be uploading the same content right now. */
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

/** For good. */
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

/** All that it has kept; reports go with the archive. */
export async function deleteArtifacts({ db }: App, { id }: Pick<Job, 'id'>): Promise<void> {
  await db.deleteFrom('ci_artifacts').where('job_id', '=', id).execute()
}

/** Of a whole project: gone from the API at once, removed by the next sweep. */
export async function expireProjectArtifacts({ db, clock }: App, project: number): Promise<void> {
  await db
    .updateTable('ci_artifacts')
    .set({ expire_at: timestamp(clock), locked: false })
    .where('project_id', '=', project)
    .execute()
}
