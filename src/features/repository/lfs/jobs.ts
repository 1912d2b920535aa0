import { DAY } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import type { Db } from '../../../store/database.ts'
import { locksRows } from '../../../store/dialect.ts'
import { transact } from '../../../store/transact.ts'
import { releaseBlob } from '../../instance/blobs/jobs.ts'

const AT_ONCE = 500

/** Deletes objects that no project links any more, and their content. */
export const dropUnlinkedObjects = job(
  'lfs.drop_unlinked',
  async (app) => {
    for (;;) {
      const unlinked = await withoutProject(app.db).orderBy('o.id').limit(AT_ONCE).execute()
      for (const { id } of unlinked) await dropObject(app, id)
      if (unlinked.length < AT_ONCE) return
    }
  },
  { every: DAY },
)

const withoutProject = (db: Db) =>
  db
    .selectFrom('lfs_objects as o')
    .select(['o.id', 'o.oid'])
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('lfs_object_projects as link')
            .select('link.project_id')
            .whereRef('link.lfs_object_id', '=', 'o.id'),
        ),
      ),
    )

/** Locks the object, then checks again: otherwise a new link would be deleted together with the object. */
async function dropObject(app: App, id: number): Promise<void> {
  await transact(app, async (app) => {
    const { db } = app
    if (locksRows(db)) await db.selectFrom('lfs_objects').select('id').where('id', '=', id).forUpdate().execute()
    const object = await withoutProject(db).where('o.id', '=', id).executeTakeFirst()
    if (!object) return
    await db.deleteFrom('lfs_objects').where('id', '=', id).execute()
    await releaseBlob(app, object.oid)
  })
}
