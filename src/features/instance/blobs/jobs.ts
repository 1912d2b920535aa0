import { HOUR } from '../../../clock.ts'
import { job, type App } from '../../../context.ts'
import { enqueue } from '../../../jobs/queue.ts'
import type { Db } from '../../../store/database.ts'

/** Content is kept once however many hold it: it goes when the last of them has left it. */
export const discardBlob = job<{ digest: string }>('blobs.discard', async (app, { digest }) => {
  if (!(await isHeld(app.db, digest))) await app.blobs.remove(digest)
})

/** Not at once: somebody may be uploading the same content right now. */
export async function leaveBlob(app: App, digest: string | null): Promise<void> {
  if (digest) await enqueue(app, discardBlob, { digest }, { delay: HOUR })
}

/** Every column that names a blob is asked, each by its index. */
async function isHeld(db: Db, digest: string): Promise<boolean> {
  const holder = await db
    .selectFrom('users')
    .select('id')
    .where('avatar_digest', '=', digest)
    .unionAll(db.selectFrom('namespaces').select('id').where('avatar_digest', '=', digest))
    .unionAll(db.selectFrom('projects').select('id').where('avatar_digest', '=', digest))
    .unionAll(db.selectFrom('uploads').select('id').where('digest', '=', digest))
    .unionAll(db.selectFrom('lfs_objects').select('id').where('oid', '=', digest))
    .limit(1)
    .executeTakeFirst()
  return holder !== undefined
}
